// A login provider for the tests: anybody who types a name is that person, and their groups follow from the name.
import { Provider } from "oidc-provider";

const [port, back, lifetime] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const groups = { "lena": ["search-leads", "search-reviewers"], "rafi": ["search-reviewers"], "pia": ["privacy"], "omar": ["kitchen"] };
let left = new Set();

const provider = new Provider(issuer, {
  clients: [{ client_id: "findback", client_secret: "not a secret in a test", redirect_uris: [back], grant_types: ["authorization_code"], response_types: ["code"] }],
  claims: { openid: ["sub"], profile: ["name", "groups"], email: ["email"] },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  ttl: { AccessToken: Number(lifetime || 3600), Session: 3600, Grant: 3600, Interaction: 3600, IdToken: 3600 },
  cookies: { keys: ["a key of the tests"] },
  features: { devInteractions: { enabled: true } },
  findAccount: (_, id) => left.has(id) ? undefined : ({ accountId: id, claims: () => ({ sub: id, name: `${id} of the tests`, groups: groups[id] ?? [] }) }),
});

provider.use(async (context, next) => {
  if (context.path === "/leave") { left.add(String(context.query.who)); context.body = "gone"; return; }
  if (context.path === "/move") { groups[String(context.query.who)] = [String(context.query.to)]; context.body = "moved"; return; }
  await next();
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));

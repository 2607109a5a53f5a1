"""What findback.toml holds, table by table."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from findback.model.record import LOCAL_ONLY, Record

SETTINGS_FORMAT = 1

EgressLevel = Literal["local", "internal", "external"]

LOCAL_SCHEMES = ("sqlite", "duckdb")
"""Databases that are files, whose address holds neither a host nor a secret."""


class CorpusSettings(Record):
    """`[corpus]`: where the documents are and how to read them."""

    path: Annotated[str, LOCAL_ONLY]
    """Folder or file, relative to findback.toml; env:NAME of a variable with a database server's address."""
    kind: str | None = None
    """folder, jsonl, csv, parquet, beir, sql or zendesk-guide; recognised by itself when left out."""
    query: Annotated[str | None, LOCAL_ONLY] = None
    """For databases: the SELECT that gives one row a document, with columns as in tables."""
    name: str | None = None
    """How reports call it; the last part of the path when left out."""
    include: tuple[str, ...] = ()
    """Glob patterns of files to read; everything of a known kind when empty."""
    exclude: tuple[str, ...] = ()
    """Glob patterns of files to leave out."""
    base_url: Annotated[str | None, LOCAL_ONLY] = None
    """Where the documents are published, so that addresses in labels meet paths."""
    id_from: Literal["path", "url", "field"] = "path"
    """What makes a document's id: its path, its address, or a field."""
    id_field: str = "id"
    """Column or front-matter key of the id, for `id_from = "field"` and for tables."""
    text_field: str = "text"
    """Column of the text, for tables."""
    title_field: str = "title"
    """Column or front-matter key of the title."""
    url_field: str = "url"
    """Column or front-matter key of the canonical address."""
    aliases_field: str = "aliases"
    """Column or front-matter key of further ids."""
    created_field: str = "created"
    """Column or front-matter key of the creation time."""
    modified_field: str = "updated"
    """Column or front-matter key of the last change."""
    subject_field: str | None = None
    """Column or front-matter key of the subject; the first folder when left out."""
    subjects: dict[str, str] = Field(default_factory=dict)
    """Rules `glob = "subject"`, first match wins, before field and folder."""
    language: str | None = None
    """ISO 639-1 code of the whole corpus; per document from `language_field` where given."""
    language_field: str = "language"
    """Column or front-matter key of the language."""
    audience_field: str | None = None
    """Column or front-matter key of the roles that may read a document; a document without it is for everybody."""
    aliases_from: tuple[Annotated[str, LOCAL_ONLY], ...] = ()
    """Files of aliases: a `_redirects` file, or CSV with old and new."""
    office: bool = False
    """Read PDF, Word, PowerPoint and Excel files of a folder, too."""
    git: bool = False
    """Read times and renames from the git history around the folder."""
    same: Annotated[str | None, LOCAL_ONLY] = None
    """CSV of document ids confirmed to be the same document (translations, mirrors), one group a row."""
    for_agents: bool = False
    """Whether agents may be shown these documents, by `findback mcp`."""


class PassageSettings(Record):
    """`[passages]`: how documents are cut for the embedded retrievers."""

    chunker: str = "whole"
    """whole, size or heading."""
    size: PositiveInt = 1_000
    """Most characters a passage may have."""
    overlap: NonNegativeInt = 0
    """Characters that neighbours share, for `size`."""


class RetrieverSettings(Record):
    """`[retrievers.NAME]`: one system under test; further keys belong to its kind."""

    model_config = ConfigDict(extra="allow")

    kind: str
    """bm25, dense, fuse, rerank, expand, tantivy, python, command, http, file, an engine (elasticsearch, opensearch,
    sql, ...), mcp, or one a plug-in brings."""
    egress: EgressLevel | None = None
    """Where queries go; the kind's own answer when left out."""
    factors: dict[str, str] = Field(default_factory=dict)
    """What this configuration stands for (embedder, chunking, ...), for comparisons by factor."""

    @property
    def own(self) -> dict[str, Any]:
        """Return the keys that belong to the kind."""
        return dict(self.model_extra or {})


class SweepSettings(Record):
    """`[sweeps.NAME]`: a grid of configurations of one retriever, which `findback evaluate --sweep NAME` scores."""

    of: str
    """Name of the retriever whose keys are varied."""
    grid: Annotated[
        dict[str, Annotated[tuple[bool | int | float | str, ...], Field(min_length=1)]], Field(min_length=1)
    ]
    """Values of its keys, such as `k1 = [0.9, 1.2]`; every combination is one configuration."""


class MeasureSettings(Record):
    """`[measures]`: which figures, and how strict."""

    primary: str = "RR@10"
    """The one metric that carries verdicts."""
    metrics: tuple[str, ...] = ("Success@1", "Success@3", "PartRecall@10", "RR@10", "nDCG@10")
    """The metrics of the headline table."""
    depth: PositiveInt = 100
    """Results asked of each retriever."""
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.02
    """Differences of the primary metric inside ± this are tied."""
    production: str | None = None
    """Name of the retriever people use: failure cases that do not say whose failure they are count as its own."""
    leak_limit: Annotated[float, Field(ge=0, le=1)] = 0.35
    """Most vocabulary leak a generated case may have."""
    seed: NonNegativeInt = 20_251
    """Seed of everything drawn at random."""


GateAxis = Literal["origin", "stratum", "wording", "answer", "language"]


class GateSettings(Record):
    """`[gate]`: when a change of the search counts as a loss."""

    baseline: str | None = None
    """Name of the baseline that `findback gate` takes when none is named."""
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Loss of the primary metric that is accepted."""
    floors: dict[GateAxis, dict[str, Annotated[float, Field(ge=0, le=1)]]] = Field(default_factory=dict)
    """Levels of the primary metric that a type must hold: `wording.symptom-first = 0.3`."""
    undecided: Literal[11, 0, 1] = 11
    """Exit status where it cannot be told: one of its own, that of a pass, or that of a fail."""
    alarms_a_year: Annotated[float, Field(gt=0, le=365)] = 1.0
    """False alarms that nightly looks may raise in a year."""
    looks_a_year: Annotated[int, Field(ge=1, le=100_000)] = 365
    """Nightly looks a year, all systems and baselines together; more than that share the same alarms."""


class PrivacySettings(Record):
    """`[privacy]`: what redaction knows about this team."""

    customer_id_patterns: tuple[str, ...] = ()
    """Patterns of customer ids: literal text with `#` for a digit and `?` for a letter, such as `ACME-#####`."""
    internal_host_suffixes: tuple[str, ...] = ()
    """Host suffixes that are nobody else's business."""


Days = Annotated[int, Field(ge=1, le=36_500)]


class RetentionSettings(Record):
    """`[retention]`: how many days private things are kept; what is over its time goes by itself."""

    undecided: Days = 90
    """Candidates and flags that nobody decided."""
    rejected: Days = 30
    """Candidates and flags that were rejected."""
    context: Days = 30
    """The thread around a question, after its release."""
    logs: Days = 365
    """Lists of where secrets were found. The event log only grows: it holds no texts."""


class SourceSettings(Record):
    """`[sources.NAME]`: an export, or a query of a database, that `findback mine` reads when it is given none."""

    path: Annotated[str | None, LOCAL_ONLY] = None
    """File or folder, relative to findback.toml; kept outside the work tree, or ignored there."""
    database: Annotated[str | None, LOCAL_ONLY] = None
    """Instead of a path: `env:NAME` of the variable that holds a database's address, or a SQLite or DuckDB file."""
    query: Annotated[str | None, LOCAL_ONLY] = None
    """One SELECT whose rows are read; `:since` in it stands for how far the last run came."""
    table: Annotated[str | None, LOCAL_ONLY] = None
    """Table or view to read whole, instead of a query; `schema.table` where it is not the usual schema."""
    timeout: PositiveInt = 300
    """Seconds a database may take for its next rows."""
    kind: str | None = None
    """Reader, such as slack or zendesk; recognised by itself when left out, save for a database."""
    channels: tuple[str, ...] = ()
    """Glob patterns of channels, queues or projects to read; all public ones when empty."""
    exclude: tuple[str, ...] = ()
    """Glob patterns never to read, besides those findback ships."""
    open: tuple[Literal["internal", "private", "direct"], ...] = ()
    """Audiences to read besides what is public."""
    help_channels: tuple[str, ...] = ()
    """Glob patterns of channels meant for questions, besides those whose name says so."""
    retrieval_tools: tuple[str, ...] = ()
    """Traces: glob patterns of tools that count as search."""
    system: str | None = None
    """Name of the search system whose failures these are, where the source does not say."""
    mapping: Annotated[str | dict[str, str | dict[str, str]] | None, LOCAL_ONLY] = None
    """Which field or column is which, for the kinds that take any: `text = "body"`; or a TOML file of that."""
    actions: dict[str, str] = Field(default_factory=dict)
    """Search logs: what the values of the column mapped as `kind` mean: search, click, impression, ask or other."""

    @model_validator(mode="after")
    def _is_one_place(self) -> Self:
        if (self.path is None) == (self.database is None):
            raise ValueError("needs exactly one of path and database")
        if self.database is None:
            if self.query is not None or self.table is not None:
                raise ValueError("query and table belong to a database")
            return self
        if (self.query is None) == (self.table is None):
            raise ValueError("a database needs exactly one of query and table")
        if self.kind is None:
            raise ValueError("rows of a database are not recognised by themselves: say the kind, such as messages")
        scheme, found, _ = self.database.partition("://")
        if found and scheme not in LOCAL_SCHEMES:
            raise ValueError("an address does not belong into findback.toml: put it into a variable, and say env:NAME")
        return self


class ConnectorSettings(Record):
    """`[connectors.NAME]`: a system that `findback mine --connector NAME` reads by its API, from where it came to."""

    kind: Literal["slack", "zendesk"]
    """What is read."""
    token: Annotated[str, Field(pattern=r"^env:[A-Za-z_][A-Za-z0-9_]*$"), LOCAL_ONLY]
    """As env:NAME: Slack's bot token; Zendesk's API or OAuth token."""
    url: Annotated[str | None, LOCAL_ONLY] = None
    """Zendesk: https://NAME.zendesk.com. Slack: its own address when left out."""
    user: Annotated[str | None, Field(pattern=r"^env:[A-Za-z_][A-Za-z0-9_]*$"), LOCAL_ONLY] = None
    """Zendesk, as env:NAME: address of the agent an API token goes with; left out, the token is an OAuth token."""
    channels: tuple[str, ...] = ()
    """Glob patterns of channels, groups or brands to read; all that may be read when empty."""
    exclude: tuple[str, ...] = ()
    """Glob patterns never to read, besides those findback ships."""
    open: tuple[Literal["internal", "private", "direct"], ...] = ()
    """Audiences to read besides what is public."""
    help_channels: tuple[str, ...] = ()
    """Glob patterns of channels meant for questions, besides those whose name says so."""
    system: str | None = None
    """Name of the search system whose failures these are."""
    first_days: Annotated[int, Field(ge=1, le=3_650)] = 90
    """Days before its first run from which a connector reads."""
    again_days: Annotated[int, Field(ge=1, le=365)] = 30
    """Slack: days before where the last run came to that are read again, for late replies, edits and deletions."""

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if self.kind == "zendesk" and self.url is None:
            raise ValueError("zendesk needs a url, such as https://acme.zendesk.com")
        if self.kind == "slack" and self.user is not None:
            raise ValueError("user belongs to zendesk")
        return self


class MiningSettings(Record):
    """`[mining]`: what all sources have in common."""

    workbench: Annotated[str | None, LOCAL_ONLY] = None
    """Address of a PostgreSQL database; a file in the private folder when left out. Secrets as env:NAME."""
    link_patterns: tuple[str, ...] = ()
    """Addresses of documents with `{document}` where the id stands: https://docs.example.org/*/{document}."""
    not_knowledge: tuple[str, ...] = ()
    """Ids or globs of documents that answer nothing: etiquette, how to ask for help."""
    without_cues: tuple[str, ...] = ()
    """Cues switched off, such as en.anyone-know."""
    rules_off: tuple[str, ...] = ()
    """Rules switched off."""
    names: bool = True
    """Whether names are looked for with a model, where one is installed."""


class AudienceSettings(Record):
    """`[audiences]`: the roles that questions are asked as."""

    roles: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = ()
    """Their names, as `context.audience` of a case and the documents' `audience_field` write them."""


class EgressSettings(Record):
    """`[egress]`: which texts may go to endpoints that are not on this machine."""

    unreviewed_to: tuple[str, ...] = ()
    """Names of retrievers and models beyond `local` that may see unreviewed text."""


class HttpSettings(Record):
    """`[http]`: bounds of the outgoing HTTP client."""

    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Seconds for one call."""
    max_bytes: PositiveInt = 20_000_000
    """Most bytes of an answer that are read."""


class ModelSettings(Record):
    """`[models.NAME]`: a language model."""

    provider: Annotated[str, Field(min_length=1, max_length=100)]
    """openai for OpenAI and every server that speaks its protocol (Ollama, vLLM, llama.cpp), anthropic, local, or
    another that pydantic-ai knows."""
    model: Annotated[str, Field(min_length=1, max_length=300)]
    """Name of the model there; for local a pulled model or the path of a GGUF file."""
    base_url: Annotated[str | None, LOCAL_ONLY] = None
    """Address of the server, where it is not the provider's own."""
    key: Annotated[str | None, LOCAL_ONLY] = None
    """Its key, as env:NAME."""
    egress: EgressLevel | None = None
    """Where texts go: local for this machine, external for any other, unless said."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """How freely it writes; the model's own default when left out."""
    max_tokens: Annotated[int, Field(ge=16, le=32_000)] = 600
    """Most tokens of one answer."""
    timeout: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    """Seconds one call may take."""
    connections: Annotated[int, Field(ge=1, le=256)] = 32
    """Most calls at a time; how many really run follows what the server bears."""
    price_in: Annotated[float, Field(ge=0)] | None = None
    """Price of a million tokens sent."""
    price_out: Annotated[float, Field(ge=0)] | None = None
    """Price of a million tokens answered."""
    currency: Annotated[str, Field(min_length=1, max_length=10)] = "USD"
    """Currency of the prices."""
    for_decisions: bool = True
    """False for a model fit for trying things out only; a release refuses what it wrote."""


class WritingSettings(Record):
    """`[writing]`: what a model writes, and the filters it must pass."""

    writer: str | None = None
    """Name of the model that writes; the only one of `[models]` when left out."""
    judge: str | None = None
    """Name of the model that judges; the writer in a fresh call when left out, and then reported as self-judged."""
    voices: Annotated[str, LOCAL_ONLY] = "docs-portal"
    """Preset of voices (docs-portal, patents, product-search, support), or a TOML file of your own."""
    prompts: Annotated[str | None, LOCAL_ONLY] = None
    """Folder with prompts of your own, which stand in the place of those of the same name."""
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Most texts a document gets before it counts as failed."""
    judgings: Annotated[int, Field(ge=1, le=9)] = 3
    """How often the judge is asked about each text, each time in another order."""
    reserve: Annotated[float, Field(ge=0, le=20)] = 1.0
    """Documents kept in reserve for those that fail, as a multiple of how many cases are asked for."""
    budget: Annotated[float, Field(gt=0)] | None = None
    """Most that one run may cost, in the models' currency."""


RoleName = Literal["reporter", "reviewer", "lead", "privacy", "admin"]


def _default_audiences() -> dict[RoleName, tuple[str, ...]]:
    return {"reviewer": ("public",), "lead": ("public", "internal")}


class OidcSettings(Record):
    """`[serve.oidc]`: the login provider of a team, by OpenID Connect."""

    issuer: Annotated[str, LOCAL_ONLY]
    """Address of the provider; its configuration is read from below it."""
    client_id: str
    client_secret: Annotated[str, LOCAL_ONLY]
    """As env:NAME."""
    roles_claim: str = "groups"
    """Claim that lists a person's groups."""


class ServeSettings(Record):
    """`[serve]`: the review page for a team."""

    host: Annotated[str, LOCAL_ONLY] = "127.0.0.1"
    """Address to listen on; beyond this machine it needs a login and TLS."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8327
    """Port to listen on; 0 takes a free one."""
    public_url: Annotated[str | None, LOCAL_ONLY] = None
    """Address people type, such as https://findback.example.org; needed for the login."""
    tls_certificate: Annotated[str | None, LOCAL_ONLY] = None
    """File of the certificate chain, relative to findback.toml."""
    tls_key: Annotated[str | None, LOCAL_ONLY] = None
    """File of its private key."""
    proxies: Annotated[tuple[str, ...], LOCAL_ONLY] = ()
    """Addresses of proxies in front that end TLS; only their forwarded headers are believed."""
    oidc: OidcSettings | None = None
    roles: dict[RoleName, tuple[str, ...]] = Field(default_factory=dict)
    """Groups that make a person each role."""
    audiences: dict[RoleName, tuple[str, ...]] = Field(default_factory=_default_audiences)
    """Audiences whose candidates each role may see."""
    metrics_token: Annotated[str | None, LOCAL_ONLY] = None
    """As env:NAME: what a program must send to read /metrics from another machine."""


class ReviewSettings(Record):
    """`[review]`: how candidates are reviewed."""

    overlap: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Share of candidates that two people review; those with secrets or customers are always reviewed twice."""
    reservation_minutes: Annotated[int, Field(ge=1, le=1_440)] = 30
    """Minutes a candidate is kept for who opened it."""
    second_look_hours: Annotated[int, Field(ge=1, le=8_760)] = 24
    """Hours after which a single reviewer's own second look counts as a second opinion."""
    show_original: bool = False
    """Whether reviewers may have the words behind a placeholder read again from the export, each time with a reason."""
    wordings: dict[str, Annotated[str, Field(min_length=1, max_length=500)]] = Field(default_factory=dict)
    """Wordings of your own besides those findback ships, each with its definition."""
    week_minutes: Annotated[int, Field(ge=1, le=480)] = 30
    """Length of the weekly session in minutes."""


class SetSettings(Record):
    """`[set]`: who looks after the set."""

    owner: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Team or role that does the weekly review; it stands in reports and digests."""


class FlagSettings(Record):
    """`[flags]`: what people send in who could not find something."""

    token: Annotated[str | None, Field(min_length=16, max_length=200)] = None
    """What the widget sends along; it is public and can do nothing but flag. Flags by HTTP are taken once it is set."""
    origins: tuple[Annotated[str, Field(pattern=r"^https?://[a-z0-9.\-\[\]:]{1,250}$")], ...] = ()
    """Sites whose pages may send flags, each exactly as browsers write it, such as https://docs.example.org."""
    notice: Annotated[str | None, Field(min_length=1, max_length=2_000)] = None
    """What the form tells people first: what is stored, how long, who reads it; findback's own words when left out."""
    audience: Literal["public", "internal", "private", "direct"] = "public"
    """Who may review flags: the reviewers of this audience."""
    selected_on: str | None = None
    """Name of the search system people flag; unknown when left out."""
    fold_days: Annotated[int, Field(ge=0, le=365)] = 30
    """Days within which the same words from the same page count as one flag."""
    per_address: Annotated[int, Field(ge=1, le=1_000_000)] = 30
    """Flags taken from one address in an hour."""
    per_origin: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000
    """Flags taken from one site in an hour."""
    total: Annotated[int, Field(ge=1, le=1_000_000)] = 3_000
    """Flags taken in an hour."""


class McpSettings(Record):
    """`[mcp]`: what agents may do through `findback mcp`."""

    search: str | None = None
    """Name of the retriever that agents may search; they may not search when left out."""
    audience: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Role that agents search as; what everybody may read when left out."""
    results: Annotated[int, Field(ge=1, le=50)] = 5
    """Most results of one search."""
    excerpt: Annotated[int, Field(ge=50, le=4_000)] = 500
    """Most characters shown of a document."""
    calls_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 60
    """Most calls that one client may make in a minute."""
    keep_days: Annotated[int, Field(ge=1, le=3_650)] = 90
    """Days for which the log of searches is kept."""
    host: Annotated[str, LOCAL_ONLY] = "127.0.0.1"
    """Address to listen on with `--http`; beyond this machine it needs TLS."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8328
    """Port to listen on; 0 takes a free one."""
    public_url: Annotated[str | None, LOCAL_ONLY] = None
    """Address that agents are given, such as https://findback.example.org; needed beyond this machine."""
    tls_certificate: Annotated[str | None, LOCAL_ONLY] = None
    """File of the certificate chain, relative to findback.toml."""
    tls_key: Annotated[str | None, LOCAL_ONLY] = None
    """File of its private key."""
    proxies: Annotated[tuple[str, ...], LOCAL_ONLY] = ()
    """Addresses of proxies in front that end TLS; only their forwarded headers are believed."""
    origins: tuple[str, ...] = ()
    """Sites whose pages may call it, such as https://chat.example.org; no page of any site when empty."""


class RefreshSettings(Record):
    """`[refresh]`: when a set counts as stale."""

    oldest_days: Annotated[int, Field(ge=1, le=36_500)] = 180
    """Age of the newest release in days from which `findback refresh` calls it old."""


class SlackSettings(Record):
    """`[slack]`: the command and the shortcut with which people in Slack say that they could not find something."""

    app_token: Annotated[str | None, Field(pattern=r"^env:[A-Za-z_][A-Za-z0-9_]*$"), LOCAL_ONLY] = None
    """As env:NAME: the app-level token for Socket Mode, which needs no address that Slack could reach."""
    signing_secret: Annotated[str | None, Field(pattern=r"^env:[A-Za-z_][A-Za-z0-9_]*$"), LOCAL_ONLY] = None
    """As env:NAME: what Slack signs its requests with, where it calls findback over HTTP instead."""
    command: Annotated[str, Field(pattern=r"^/[a-z0-9_-]{1,31}$")] = "/couldnt-find"
    """The command, as the app's manifest has it."""
    shortcut: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")] = "couldnt_find"
    """Callback id of the message shortcut, as the app's manifest has it."""
    per_person: Annotated[int, Field(ge=1, le=10_000)] = 20
    """Flags taken from one person in an hour."""
    host: Annotated[str, LOCAL_ONLY] = "127.0.0.1"
    """HTTP: address to listen on, behind a proxy that ends TLS."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8329
    """HTTP: port to listen on; 0 takes a free one."""
    url: Annotated[str | None, LOCAL_ONLY] = None
    """Address of Slack's Web API; its own when left out."""


class Settings(Record):
    """findback.toml."""

    format: Literal[1] = 1
    name: str = "workspace"
    """How reports call this workspace."""
    evalset: Annotated[str, LOCAL_ONLY] = "evalset"
    """Folder of the published set, relative to findback.toml."""
    private: Annotated[str | None, LOCAL_ONLY] = None
    """Private folder; below the user's state folder when left out."""
    corpus: CorpusSettings | None = None
    passages: PassageSettings = PassageSettings()
    audiences: AudienceSettings = AudienceSettings()
    retrievers: dict[str, RetrieverSettings] = Field(default_factory=dict)
    sweeps: dict[str, SweepSettings] = Field(default_factory=dict)
    measures: MeasureSettings = MeasureSettings()
    gate: GateSettings = GateSettings()
    privacy: PrivacySettings = PrivacySettings()
    retention: RetentionSettings = RetentionSettings()
    mining: MiningSettings = MiningSettings()
    sources: dict[str, SourceSettings] = Field(default_factory=dict)
    connectors: dict[str, ConnectorSettings] = Field(default_factory=dict)
    slack: SlackSettings = SlackSettings()
    egress: EgressSettings = EgressSettings()
    http: HttpSettings = HttpSettings()
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    writing: WritingSettings = WritingSettings()
    review: ReviewSettings = ReviewSettings()
    refresh: RefreshSettings = RefreshSettings()
    serve: ServeSettings = ServeSettings()
    mcp: McpSettings = McpSettings()
    flags: FlagSettings = FlagSettings()
    set: SetSettings = SetSettings()

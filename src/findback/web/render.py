"""Pages: Jinja2 in a sandbox, everything escaped, nothing inline."""

from functools import lru_cache
from typing import Any

from fastapi import Request
from jinja2 import PackageLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from starlette.responses import HTMLResponse

from findback.text.safe import show_in_place
from findback.web.figures import say_estimate, say_moved


@lru_cache
def environment() -> ImmutableSandboxedEnvironment:
    """Return the environment of the page templates."""
    made = ImmutableSandboxedEnvironment(
        loader=PackageLoader("findback.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # They come with the package: nobody changes them while it runs.
        auto_reload=False,
    )
    made.filters |= {"shown": show_in_place, "estimate": say_estimate, "moved": say_moved}
    return made


def render_page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page; the visitor, the CSRF token and the path are there for every template."""
    visitor = getattr(request.state, "visitor", None)
    page = (
        environment()
        .get_template(template)
        .render(
            visitor=visitor,
            csrf=getattr(request.state, "csrf", ""),
            path=request.url.path,
            site=request.app.state.site,
            status=status,
            **values,
        )
    )
    # Half a character, which a file may hold and no page can, is shown as a question mark.
    return HTMLResponse(page.encode("utf-8", "replace"), status_code=status)

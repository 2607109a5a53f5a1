"""Result records as terminal tables, HTML, Markdown, JSON and charts."""

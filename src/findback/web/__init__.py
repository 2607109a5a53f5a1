"""The review page: a face over the steps, local for one person or with a login for a team."""

"""Askfirst: it asks before anyone acts."""

import os

# What happens to be installed beside it has no say in how values are checked, and looking for it delays each start:
# docs.pydantic.dev/latest/concepts/plugins
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

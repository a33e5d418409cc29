"""The ways from one version of the database to the next, in `versions/`. Run by `storage.migrate`."""

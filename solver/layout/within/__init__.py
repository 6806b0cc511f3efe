"""What lies within what: within searched bundles one inside another, and within given ones that others may use only in part."""

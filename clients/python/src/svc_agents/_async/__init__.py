"""One half of the client."""

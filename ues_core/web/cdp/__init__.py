"""The Chrome DevTools Protocol side of the web room."""

"""Where clients connect: sockets, frames, logins."""

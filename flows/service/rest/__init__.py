"""REST for programs: each file is a group of routes; `api` puts them together and describes them."""

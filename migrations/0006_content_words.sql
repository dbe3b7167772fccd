-- Words are looked up when a page is cached, not while its agent waits for it: so many bytes from the
-- beginning have not been looked into yet.
ALTER TABLE portal.content ADD COLUMN unread integer;

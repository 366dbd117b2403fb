-- A presigned address can be used until it expires, also after its upload was finalized: what it still brought is swept
-- once. An empty staging key says that this is done.
create index file_upload on file (expires_at) where staging_key <> '';

drop index file_pending;
create index file_pending on file (workspace_id, expires_at) where finalized_at is null;

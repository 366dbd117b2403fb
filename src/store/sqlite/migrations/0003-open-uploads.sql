-- A presigned address accepts uploads until it expires, even after its upload was finalized. What arrives that late is removed
-- once; an empty staging key marks that this was done.
create index file_upload on file (expires_at) where staging_key <> '';

drop index file_pending;
create index file_pending on file (workspace_id, expires_at) where finalized_at is null;

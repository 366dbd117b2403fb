-- Whose signature counts for what, each version that was in force.
create table trust_document (
  workspace_id text not null,
  version bigint not null,
  -- Of the document; the envelope has it with the signatures of the roots.
  digest text not null,
  envelope text not null,
  installed_at bigint not null,
  installed_by text not null,
  primary key (workspace_id, version)
);

-- Signed statements about publications and deployments.
create table attestation (
  workspace_id text not null,
  -- SHA-256 of the envelope.
  digest text not null,
  kind text not null,
  -- Digest of the closure that was published, or of the snapshot that was deployed.
  subject text not null,
  -- Of a deployment.
  agent text,
  revision bigint,
  envelope text not null,
  -- Ids of the keys, as JSON.
  signers text not null,
  at bigint not null,
  primary key (workspace_id, digest)
);

create index attestation_of_subject on attestation (workspace_id, subject);
create unique index attestation_of_revision on attestation (workspace_id, agent, revision);

create trigger trust_document_is_final before update on trust_document
  for each row execute function refuse_change('an installed trust document never changes');
create trigger attestation_is_final before update on attestation
  for each row execute function refuse_change('an attestation never changes');

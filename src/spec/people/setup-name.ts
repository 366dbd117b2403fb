/** Names of the rows that operators set up, as acts name them. Source: docs/design/audit.md#what-operators-set-up */

export const SETUP_NOUNS = [
  /** What is deployed of an agent: id of the agent. */
  'agent',
  /** All its deployments, a line each: id of the agent. */
  'deployments',
  /** A published version of an agent: its id. */
  'version',
  /** A published Tool or Policy: kind, id and version. */
  'document',
  'trigger',
  'key',
  'credential',
  'passkey',
  /** All sessions of the console and of commands of a person, a line each: the person. */
  'sign-ins',
  /** Ends and renewals of a standing authority, a line each: its name. */
  'standing',
  /** Pauses and resumptions of a thing, a line each: kind and name. */
  'pause',
  /** An installed trust document: its version. */
  'trust',
  /** A signed statement: digest of its envelope. */
  'attestation',
] as const
export type SetupNoun = (typeof SETUP_NOUNS)[number]
export type SetupName = `${SetupNoun} ${string}`

/** A row that an act changed, and the digest of the salt of the act and the lines of the row after it; or `REMOVED`. */
export type SetupDigest = readonly [name: SetupName, digest: string]

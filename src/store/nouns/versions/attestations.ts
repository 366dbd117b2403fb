/** Signed statements, and the documents that say whose signature counts. Source: docs/design/trust.md#tables */
import type { Digest } from '../../../base/digest.ts'
import { fail } from '../../../base/failure.ts'
import type { WorkspaceId } from '../../../base/ids.ts'
import type { Attestation, InstalledTrust } from '../../../spec/trust/attestation.ts'
import type { Dialect } from '../../dialect.ts'
import { readOneRow, readRow, readRows, writeRows, type DatabaseWork, type NounWork } from '../../statement.ts'
import type { SignedDeployment } from '../../version-rows.ts'
import { defineTable } from '../record-table.ts'

export const ATTESTATIONS = defineTable<Attestation>('attestation', {
  workspaceId: 'text',
  digest: 'text',
  kind: 'text',
  subject: 'text',
  agent: 'text',
  revision: 'integer',
  envelope: 'text',
  signers: 'json',
  at: 'integer',
})

export const TRUST_DOCUMENTS = defineTable<InstalledTrust>('trust_document', {
  workspaceId: 'text',
  version: 'integer',
  digest: 'text',
  envelope: 'text',
  installedAt: 'integer',
  installedBy: 'text',
})

/** The same statement again, with the same signatures, changes nothing. */
const ADD = `${ATTESTATIONS.insert} on conflict (workspace_id, digest) do nothing`
const LATEST = `${TRUST_DOCUMENTS.select} where workspace_id = :workspaceId order by version desc limit 1`
const REVISION = `select coalesce(max(revision), 0) as revision from attestation
  where workspace_id = :workspaceId and agent = :agent`

type AttestationReads = 'trust' | 'attestations' | 'deploymentRevision'

export function prepareAttestations({ lock, isOneOf }: Dialect): NounWork<AttestationReads, never, 'installTrust'> {
  const bySubject = `${ATTESTATIONS.select}
    where workspace_id = :workspaceId and ${isOneOf('subject', 'subjects')} order by at, digest`
  return {
    reads: {
      *trust(workspaceId) {
        const row = yield* readRow(LATEST, { workspaceId })
        return row && TRUST_DOCUMENTS.toRecord(row)
      },
      *attestations(workspaceId, subjects) {
        return (yield* readRows(bySubject, { workspaceId, subjects })).map(ATTESTATIONS.toRecord)
      },
      *deploymentRevision(workspaceId, agent) {
        return (yield* readOneRow<{ revision: number }>(REVISION, { workspaceId, agent })).revision
      },
    },
    writes: {},
    transactions: {
      *installTrust(installed, replaces) {
        const { workspaceId, version } = installed
        yield* lock(`trust ${workspaceId}`)
        const row = yield* readRow(LATEST, { workspaceId })
        const latest = row && TRUST_DOCUMENTS.toRecord(row)
        if (latest?.digest !== replaces)
          throw fail('trust_refused', {
            what: 'trust document',
            step: 'statement',
            why: `version ${latest?.version ?? 'none'} was installed meanwhile, and ${version} was checked against another`,
          })
        yield* writeRows(TRUST_DOCUMENTS.insert, TRUST_DOCUMENTS.toValues(installed))
      },
    },
  }
}

/**
 * Refuses what was judged by a trust document that is no longer in force. No other is installed before the end of the transaction.
 * @param judgedBy its digest; null for none @throws Failure `trust_refused`
 */
export function* refuseOtherTrust(
  { lock }: Dialect,
  what: 'publication' | 'deployment',
  workspaceId: WorkspaceId,
  judgedBy: Digest | null | undefined,
): DatabaseWork<void> {
  if (judgedBy === undefined) return
  yield* lock(`trust ${workspaceId}`)
  const latest = (yield* readRow<{ digest: Digest }>(LATEST, { workspaceId }))?.digest ?? null
  if (latest === judgedBy) return
  const why = 'another trust document was installed meanwhile'
  throw fail('trust_refused', { what, step: 'statement', why })
}

export function* addAttestations(attestations: readonly Attestation[]): DatabaseWork<void> {
  for (const each of attestations) yield* writeRows(ADD, ATTESTATIONS.toValues(each))
}

/**
 * Keeps the statement of a deployment. The row of the agent is locked, so deployments of an agent follow each other.
 * @param from the version that is deployed before it
 * @throws Failure `deploy_regression`
 */
export function* addDeploymentStatement(
  { attestation, from: expected }: SignedDeployment,
  from: string | null,
): DatabaseWork<void> {
  const { workspaceId, agent, revision } = attestation
  const { revision: latest } = yield* readOneRow<{ revision: number }>(REVISION, { workspaceId, agent })
  if (revision !== latest + 1 || expected !== from)
    throw fail('deploy_regression', { agent: agent ?? '', revision: revision ?? 0, latest, moved: expected !== from })
  yield* addAttestations([attestation])
}

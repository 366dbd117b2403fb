/** Puts a trust document in force. Source: docs/design/trust.md#installing */
import { isoOrNull, toIsoText } from '../../../base/clock.ts'
import type { InstalledTrustView } from '../../../operations/trust.ts'
import type { InstalledTrust } from '../../../spec/trust/attestation.ts'
import { refuseExpired } from '../../../spec/trust/verify-signed.ts'
import { openTrust } from '../../../spec/trust/verify-trust.ts'
import type { OperatorAction } from '../people/act.ts'
import { openInstalled, readTrustInForce, refusing } from './trust-in-force.ts'

export const getTrust: OperatorAction<'GET /trust'> = async ({ services: { store, workspace } }) => {
  const installed = await store.trust(workspace.id)
  return { installed: installed ? await refusing('trust document', async () => toView(installed)) : null }
}

export const installTrust: OperatorAction<'POST /trust'> = async ({ services, operator, body, act }) => {
  const { store, clock, workspace } = services
  const at = clock.now()
  const before = await readTrustInForce(services)
  const trust = await refusing('trust document', async () => {
    const opened = openTrust(body.envelope, before, at)
    refuseExpired(opened, at)
    return opened
  })
  const installed: InstalledTrust = {
    workspaceId: workspace.id,
    version: trust.version,
    digest: trust.digest,
    envelope: body.envelope,
    installedAt: at,
    installedBy: operator.id,
  }
  const recorded = store.recording(
    act('trust.installed', {
      subject: `${trust.name}@${trust.version}`,
      reason: body.message,
      before: before ? { version: before.version, digest: before.digest } : null,
      after: { version: trust.version, digest: trust.digest },
      setup: [`trust ${trust.version}`],
    }),
  )
  await recorded.installTrust(installed, before?.digest)
  return toView(installed)
}

function toView(installed: InstalledTrust): InstalledTrustView {
  const { name, version, digest, expires } = openInstalled(installed)
  const { envelope, installedAt, installedBy } = installed
  return {
    name,
    version,
    digest,
    expires: isoOrNull(expires),
    installedAt: toIsoText(installedAt),
    installedBy,
    envelope,
  }
}

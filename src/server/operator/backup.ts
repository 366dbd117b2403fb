import type { OperatorAction } from './people/act.ts'

/** Sends the archive; headers tell how many runs and files it contains. */
export const backupRoute: OperatorAction<'POST /backup'> = async ({ services, act }) => {
  // Loaded on demand: only this route packs archives.
  const { createBackup } = await import('../runtime/upkeep/backup.ts')
  const { manifest, stream } = await createBackup(services)
  const exported = act('store.exported', { subject: 'a backup of the store', after: { runs: manifest.runs } })
  // Before anything is sent: an export that breaks off has shown a part.
  await services.store.addAct(exported).catch(async (error: unknown) => {
    await stream.cancel()
    throw error
  })
  return {
    status: 200,
    stream,
    headers: {
      'content-type': 'application/gzip',
      'x-svc-runs': String(manifest.runs),
      'x-svc-objects': String(manifest.objects.length),
    },
  }
}

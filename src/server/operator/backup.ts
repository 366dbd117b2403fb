import type { OperatorAction } from './people/act.ts'

/** Sends the archive; headers tell how many runs and files it contains. */
export const backupRoute: OperatorAction<'POST /backup'> = async ({ services }) => {
  // Loaded on demand: only this route packs archives.
  const { createBackup } = await import('../runtime/upkeep/backup.ts')
  const { manifest, stream } = await createBackup(services)
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

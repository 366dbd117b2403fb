import type { OperatorAction } from './act.ts'

/** The archive; what it holds is in the headers too, for those who do not open it. */
export const backupRoute: OperatorAction<'POST /backup'> = async ({ services }) => {
  // Packing archives is loaded by who asks for one.
  const { createBackup } = await import('../runtime/backup.ts')
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

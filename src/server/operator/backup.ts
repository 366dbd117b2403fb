import type { Act } from './act.ts'

/** The archive; what it holds is in the headers too, for those who do not open it. */
export const backup: Act<'POST /backup'> = async ({ services }) => {
  // Packing archives is loaded by who asks for one.
  const { createBackup } = await import('../backup.ts')
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

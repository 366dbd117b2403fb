/** Endings that people upload to agents; everything else is bytes. */
const BY_ENDING: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
}

/** Media type by file extension; `application/octet-stream` for unknown ones. */
export function mediaTypeOf(filename: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase()
  return (
    (ending !== undefined && Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined) ??
    'application/octet-stream'
  )
}

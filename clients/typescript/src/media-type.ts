/** Endings that people upload to agents; everything else is bytes. */
const BY_ENDING: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
}

/** After the prefix that they share. */
const OFFICE_BY_ENDING: Readonly<Record<string, string>> = {
  docx: 'wordprocessingml.document',
  pptx: 'presentationml.presentation',
  xlsx: 'spreadsheetml.sheet',
}

/** Media type by file extension; `application/octet-stream` for unknown ones. */
export function mediaTypeOf(filename: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? ''
  if (Object.hasOwn(OFFICE_BY_ENDING, ending))
    return `application/vnd.openxmlformats-officedocument.${OFFICE_BY_ENDING[ending]}`
  return (Object.hasOwn(BY_ENDING, ending) && BY_ENDING[ending]) || 'application/octet-stream'
}

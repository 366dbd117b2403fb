// What the pages about routes share: tables of fields, with their types, bounds and descriptions.

export const code = (value) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``

/** @param link writes a link to a body of the HTTP interface */
export const createTypeWords = (link) => {
  const typeOf = (schema) => {
    const { $ref, type, format: form, const: only, enum: values, items } = schema
    if ($ref !== undefined) return link($ref.split('/').at(-1))
    if (only !== undefined) return code(only)
    if (values !== undefined) return values.map(code).join(', ')
    if (type === 'array') return `array of ${typeOf(items)}`
    if (type === undefined || (Array.isArray(type) && type.length === 6)) return 'JSON'
    const word = Array.isArray(type) ? type.join(' or ') : type
    return form === undefined || form === 'date-time' ? word : `${word} (${form})`
  }
  return typeOf
}

const boundsOf = ({ minimum, maximum = Number.MAX_SAFE_INTEGER, minLength, maxLength, maxItems, default: usual }) => [
  ...(minimum === undefined
    ? []
    : [maximum === Number.MAX_SAFE_INTEGER ? `From ${minimum}.` : `${minimum} to ${maximum}.`]),
  ...(maxLength === undefined
    ? []
    : [minLength > 0 ? `${minLength} to ${maxLength} characters.` : `At most ${maxLength} characters.`]),
  ...(maxItems === undefined ? [] : [`At most ${maxItems}.`]),
  ...(usual === undefined ? [] : [`${code(usual)} when absent.`]),
]

export const aboutOf = (schema) => {
  const { description, 'x-extensible-enum': words } = schema
  return [
    ...(description === undefined ? [] : [description.trim().replace(/[^.:]$/, '$&.')]),
    ...(words === undefined ? [] : [`${words.map(code).join(', ')}; more may be added.`]),
    ...boundsOf(schema),
  ].join(' ')
}

export const row = (...cells) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
export const table = (head, rows) => [row(...head), row(...head.map(() => '---')), ...rows].join('\n')

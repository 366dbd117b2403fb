/** The notation in which the table states shapes: `{a,b?,c:[{d,…}]}`. */
type Shape = { readonly [name: string]: Shape } | readonly [Shape] | undefined

const OPEN = '…'

/** What a value has too much or too little of; nothing for a statement in words, which says no shape. */
export function faultsOf(value: unknown, stated: string): readonly string[] {
  return stated.startsWith('{') ? compare(value, read(stated), '') : []
}

function compare(value: unknown, shape: Shape, at: string): string[] {
  if (shape === undefined || value === null || value === undefined) return []
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${at} is no list`]
    return value.flatMap((each) => compare(each, (shape as readonly [Shape])[0], `${at}[]`))
  }
  if (typeof value !== 'object' || Array.isArray(value)) return [`${at} is no object`]
  const known = shape as { readonly [name: string]: Shape }
  const names = Object.keys(known).map((name) => name.replace('?', ''))
  const missing = Object.keys(known).filter(
    (name) => name !== OPEN && !name.endsWith('?') && !Object.hasOwn(value, name),
  )
  const more = Object.hasOwn(known, OPEN) ? [] : Object.keys(value).filter((name) => !names.includes(name))
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...more.map((name) => `${at}.${name} is not in the table`),
    ...Object.entries(known).flatMap(([name, inner]) => {
      const bare = name.replace('?', '')
      return compare((value as Record<string, unknown>)[bare], inner, `${at}.${bare}`)
    }),
  ]
}

function read(text: string): Shape {
  let at = 0
  const next = (): Shape => {
    if (text[at] === '{') return members()
    if (text[at] === '[') {
      at++
      const item = next()
      at = text.indexOf(']', at) + 1
      return [item]
    }
    // A word, or a union of texts: any value.
    while (at < text.length && !',}]'.includes(text[at]!)) at++
    return undefined
  }
  const members = (): { [name: string]: Shape } => {
    const found: { [name: string]: Shape } = {}
    for (at++; text[at] !== '}';) {
      const name = /^[^,:}]+/.exec(text.slice(at))![0]
      at += name.length
      if (text[at] === ':') {
        at++
        found[name] = next()
      } else found[name] = undefined
      if (text[at] === ',') at++
    }
    at++
    return found
  }
  return next()
}

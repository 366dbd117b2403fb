// Writes what the Python client has of schemas/openapi.yaml: a frozen dataclass for each shape that the server sends, a TypedDict for each
// that a caller puts into a body (types.py), and the table by which answers are read into them (_readers.py).

const HEAD = '# Written by scripts/python.js from schemas/openapi.yaml.\n'

/** What callers write themselves, as it travels. */
const SENT = ['FileReference', 'FileItem']

/** Unions by a property; a variant that this client does not know is read as the class that is named here. */
const UNIONS = {
  TimelineItem: { key: 'type', base: 'TimelineItemBase', other: 'OtherTimelineItem', value: 'content' },
  StreamEvent: { key: 'subject', base: 'StreamEventBase', other: 'OtherStreamEvent', value: 'data' },
}

const snake = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const quoted = (value) => (value === true ? 'True' : JSON.stringify(value))
const nameOf = (ref) => ref.split('/').at(-1)

/** @returns the texts of types.py and _readers.py */
export function writePythonTypes(api) {
  const { schemas } = api.components
  const isObject = (schema) => schema.properties !== undefined || schema.allOf !== undefined
  const answered = reachable(schemas, answersOf(api))
  const classes = answered.filter((name) => isObject(schemas[name]))
  const variants = Object.fromEntries(Object.keys(UNIONS).map((name) => [name, schemas[name].oneOf.map(refOf)]))
  const aliases = answered.filter((name) => !isObject(schemas[name]) && UNIONS[name] === undefined)

  const partsOf = (name) => {
    const parts = schemas[name].allOf ?? [schemas[name]]
    const bases = parts.filter(({ $ref }) => $ref !== undefined).map(refOf)
    return { bases, own: parts.find(({ properties }) => properties !== undefined) ?? { properties: {} } }
  }
  /** Own fields, and those of every base but the first: a class with slots has one base. */
  const fieldsOf = (name) => {
    const { bases, own } = partsOf(name)
    const required = new Set(own.required ?? [])
    const fields = Object.entries(own.properties).map(([wire, schema]) => ({ wire, schema, given: required.has(wire) }))
    return [...bases.slice(1).flatMap(everyFieldOf), ...fields]
  }
  const everyFieldOf = (name) => {
    const [first] = partsOf(name).bases
    const all = [...(first === undefined ? [] : everyFieldOf(first)), ...fieldsOf(name)]
    return [...new Map(all.map((field) => [field.wire, field])).values()]
  }

  const declareClass = (name) => {
    const [base = 'Shape'] = partsOf(name).bases
    const fields = fieldsOf(name).map(({ wire, schema, given }) => {
      const type = typeOf(schema)
      const line = isMany(schema, schemas)
        ? `${snake(wire)}: ${type} = ()`
        : given
          ? `${snake(wire)}: ${type}`
          : `${snake(wire)}: ${type.endsWith('| None') || type === 'JsonValue' ? type : `${type} | None`} = None`
      return `    ${line}\n${docOf(schema, '    ')}`
    })
    const doc = docOf(schemas[name], '    ')
    const body = `${doc}${doc && fields.length > 0 ? '\n' : ''}${fields.join('')}` || '    pass\n'
    return `@dataclass(frozen=True, slots=True, kw_only=True)\nclass ${name}(${base}):\n${body}`
  }
  const declareOther = ({ key, base, other, value }) =>
    `@dataclass(frozen=True, slots=True, kw_only=True)\nclass ${other}(${base}):\n    """One of a kind that this client does not know: its \`${key}\` says which."""\n\n    ${value}: JsonValue = None\n`
  const declareSent = (name) => {
    const { properties, required } = schemas[name]
    const fields = (given) =>
      Object.entries(properties)
        .filter(([wire]) => required.includes(wire) === given)
        .map(([wire, schema]) => `    ${wire}: ${typeOf(schema)}\n${docOf(schema, '    ')}`)
        .join('')
    // NotRequired is newer than Python 3.10.
    return `class _${name}Needs(TypedDict):\n${fields(true)}\n\nclass ${name}(_${name}Needs, total=False):\n${fields(false)}`
  }

  const typeOf = (schema) => {
    const { $ref, 'x-type': written, type, const: only, enum: values, 'x-extensible-enum': words, items } = schema
    if (written === 'number | string') return 'float | str'
    if ($ref !== undefined) return nameOf($ref) + (isNullable(schemas[nameOf($ref)]) ? ' | None' : '')
    if (only !== undefined) return `Literal[${quoted(only)}]`
    if (values !== undefined) return `Literal[${values.map(quoted).join(', ')}]`
    if (words !== undefined) return `Literal[${words.map(quoted).join(', ')}] | str`
    const types = [type ?? 'any'].flat()
    if (types.length > 2) return 'JsonValue'
    const [one] = types.filter((each) => each !== 'null')
    const orNone = types.includes('null') ? ' | None' : ''
    if (one === 'array') return `tuple[${typeOf(items)}, ...]`
    if (one === 'object') {
      const rest = schema.additionalProperties
      return `${typeof rest === 'object' ? `Mapping[str, ${typeOf(rest).replace(/^tuple\[(.*), \.\.\.\]$/, 'Sequence[$1]')}]` : 'JsonObject'}${orNone}`
    }
    const names = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' }
    return names[one] === undefined ? 'JsonValue' : names[one] + orNone
  }
  const isNullable = (schema) =>
    schema.allOf?.every((part) => isNullable(part.$ref === undefined ? part : schemas[refOf(part)])) ??
    (schema.properties !== undefined && [schema.type].flat().includes('null'))

  /** How a value is read, where it is more than what it is. */
  const readerOf = (schema) => {
    const name = schema.$ref === undefined ? undefined : nameOf(schema.$ref)
    if (name !== undefined && UNIONS[name] !== undefined) return `one_of(${snake(name).slice(1).toUpperCase()})`
    if (name !== undefined && isObject(schemas[name])) return `one(types.${name})`
    if (name !== undefined) return readerOf(schemas[name])
    if (schema.type !== 'array') return undefined
    return `many(${readerOf(schema.items) ?? ''})`
  }

  const ordered = baseFirst(classes, (name) => partsOf(name).bases)
  const aliasText = (name) => `${name}: TypeAlias = ${typeOf(schemas[name])}\n${docOf(schemas[name], '')}`
  const [late, early] = [
    aliases.filter((name) => classes.some((each) => new RegExp(`\\b${each}\\b`).test(typeOf(schemas[name])))),
    aliases.filter((name) => !classes.some((each) => new RegExp(`\\b${each}\\b`).test(typeOf(schemas[name])))),
  ]
  const unionText = ([name, { other }]) =>
    `${name}: TypeAlias = ${[...variants[name], other].join(' | ')}\n${docOf(schemas[name], '')}`
  const types = `${HEAD}"""What the server sends, read into frozen dataclasses. A field that it left out is None, or an empty tuple;
\`raw\` of each has everything as it came, also what this client does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

from ._shape import Shape

JsonValue: TypeAlias = Any
"""Any value of JSON."""
JsonObject: TypeAlias = Mapping[str, Any]
${early.map(aliasText).join('')}

${[
  ...SENT.map(declareSent),
  ...ordered.map(declareClass),
  ...Object.values(UNIONS).map(declareOther),
  [...late.map(aliasText), ...Object.entries(UNIONS).map(unionText)].join(''),
].join('\n\n')}
__all__ = [
${[
  'JsonObject',
  'JsonValue',
  'Shape',
  ...early,
  ...late,
  ...SENT,
  ...classes,
  ...Object.keys(UNIONS),
  ...Object.values(UNIONS).map(({ other }) => other),
]
  .sort()
  .map((name) => `    "${name}",\n`)
  .join('')}]
`
  return { types, readers: readersText() }

  function readersText() {
    const constant = (name) => snake(name).slice(1).toUpperCase()
    const row = (name, key, extra = []) => {
      const fields = everyFieldOf(key ?? name).map(({ wire, schema }) => [wire, readerOf(schema)])
      const plain = [...fields.filter(([, reader]) => reader === undefined).map(([wire]) => wire), ...extra]
      const read = fields.filter(([, reader]) => reader !== undefined)
      const lines = [`"${plain.join(' ')}"`, ...read.map(([wire, reader]) => `${wire}=${reader}`)]
      return `    types.${name}: fields(\n${lines.map((line) => `        ${line},\n`).join('')}    ),\n`
    }
    const union = ([name, { key, other }]) => {
      const rows = variants[name].flatMap((variant) => {
        const { const: only, enum: values } = partsOf(variant).own.properties[key]
        return (values ?? [only]).map((value) => `        "${value}": types.${variant},\n`)
      })
      return `${constant(name)} = Union(\n    "${key}",\n    types.${other},\n    {\n${rows.join('')}    },\n)\n`
    }
    const others = Object.values(UNIONS).map(({ base, other, value }) => row(other, base, [value]))
    return `${HEAD}"""By class: its fields as JSON names them, and how the values are read that are more than text and numbers."""

from __future__ import annotations

from . import types
from ._shape import READERS, Union, fields, many, one, one_of, read_shape

${Object.entries(UNIONS).map(union).join('')}
READERS.update({
${ordered.map((name) => row(name)).join('')}${others.join('')}})

__all__ = ["STREAM_EVENT", "TIMELINE_ITEM", "many", "one", "one_of", "read_shape"]
`
  }
}

const refOf = ({ $ref }) => nameOf($ref)

/** Names of the schemas that successful answers hold. */
function answersOf({ paths, components }) {
  const resolve = (part) => (part?.$ref === undefined ? part : components.responses[refOf(part)])
  return Object.values(paths)
    .flatMap((path) => Object.values(path))
    .filter(({ responses, tags = [] }) => responses !== undefined && !tags.includes('service'))
    .flatMap(({ responses }) => Object.entries(responses))
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => Object.values(resolve(response).content ?? {}))
    .flatMap(({ schema }) => (schema?.$ref === undefined ? [] : [refOf(schema)]))
}

/** These and all that they refer to, in the order of the document. */
function reachable(schemas, roots) {
  const found = new Set()
  const visit = (value) => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (typeof value !== 'object' || value === null) return
    for (const [key, each] of Object.entries(value)) {
      if (key === '$ref') add(nameOf(each))
      else if (key !== 'discriminator' && key !== 'examples') visit(each)
    }
  }
  const add = (name) => {
    if (found.has(name)) return
    found.add(name)
    visit(schemas[name])
  }
  ;[...roots, 'ErrorDetail'].forEach(add)
  return Object.keys(schemas).filter((name) => found.has(name))
}

/** A class stands below its base. */
function baseFirst(names, basesOf) {
  const ordered = new Set()
  const add = (name) => {
    basesOf(name).forEach(add)
    ordered.add(name)
  }
  names.forEach(add)
  return [...ordered]
}

const isMany = (schema, schemas) =>
  schema.$ref === undefined ? schema.type === 'array' : isMany(schemas[refOf(schema)], schemas)

/** A description as a docstring, wrapped. */
function docOf({ description }, indent) {
  if (description === undefined) return ''
  const lines = ['']
  for (const word of description.trim().replaceAll('\\', '\\\\').split(/\s+/))
    if (lines.at(-1).length + word.length > 92) lines.push(word)
    else lines[lines.length - 1] += `${lines.at(-1) && ' '}${word}`
  return `${indent}"""${lines.join(`\n${indent}`)}"""\n`
}

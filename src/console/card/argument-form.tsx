/** A form for JSON values by their schema: one input for each name, JSON for everything that no simple input has. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { FileView } from '../../operations/sessions.ts'
import { FileField, isFileSchema } from './file-field.tsx'
import type { View } from '../parts/view.ts'

export interface FormField {
  readonly name: string
  readonly kind: 'text' | 'lines' | 'number' | 'boolean' | 'choice' | 'file' | 'json'
  readonly isRequired: boolean
  readonly description?: string
  readonly choices?: readonly JsonValue[]
}

/** A text longer than this gets several lines. */
const LONG_TEXT = 80

/** The fields of an object: those of its schema, and those that it has. */
export function fieldsOf(schema: JsonValue | undefined, value: JsonObject): readonly FormField[] {
  const object = isJsonObject(schema) ? schema : {}
  const properties = isJsonObject(object['properties']) ? object['properties'] : {}
  const required = Array.isArray(object['required']) ? object['required'] : []
  const names = [...new Set([...Object.keys(value), ...Object.keys(properties)])]
  return names.map((name) => {
    const property = isJsonObject(properties[name]) ? properties[name] : {}
    const choices = Array.isArray(property['enum']) ? property['enum'] : undefined
    const description = typeof property['description'] === 'string' ? property['description'] : undefined
    return {
      name,
      kind: choices ? 'choice' : kindOf(property, value[name]),
      isRequired: required.includes(name),
      ...(description !== undefined && { description }),
      ...(choices && { choices }),
    }
  })
}

function kindOf(property: JsonObject, value: JsonValue | undefined): FormField['kind'] {
  if (isFileSchema(property) && value === undefined) return 'file'
  const { type } = property
  const usual = value === undefined ? 'json' : typeof value
  const word = typeof type === 'string' ? type : usual
  if (word === 'boolean' && (value === undefined || typeof value === 'boolean')) return 'boolean'
  if ((word === 'number' || word === 'integer') && (value === undefined || typeof value === 'number')) return 'number'
  if (word === 'string' && (value === undefined || typeof value === 'string'))
    return typeof value === 'string' && (value.includes('\n') || value.length > LONG_TEXT) ? 'lines' : 'text'
  return 'json'
}

/** What was typed, by field; undefined = the field is left out. */
export type FormTexts = Readonly<Record<string, string | undefined>>

export const textsOfFields = (fields: readonly FormField[], value: JsonObject): FormTexts =>
  Object.fromEntries(
    fields.map(({ name, kind }) => {
      const each = value[name]
      if (each === undefined) return [name, undefined]
      return [
        name,
        typeof each === 'string' && (kind === 'text' || kind === 'lines') ? each : JSON.stringify(each, null, 2),
      ]
    }),
  )

export interface FormOutcome {
  /** Absent while a field is not valid. */
  readonly value?: JsonObject
  readonly problems: Readonly<Record<string, string>>
}

/** Reads what was typed. A field that was not touched keeps its value. */
export function readForm(fields: readonly FormField[], texts: FormTexts): FormOutcome {
  const problems: Record<string, string> = {}
  const value: JsonObject = {}
  for (const { name, kind, isRequired } of fields) {
    const text = texts[name]
    if (text === undefined || (text === '' && kind !== 'text' && kind !== 'lines')) {
      if (isRequired) problems[name] = 'is required'
      continue
    }
    if (kind === 'text' || kind === 'lines') value[name] = text
    else {
      try {
        value[name] = parseJson(text)
        if (kind === 'number' && typeof value[name] !== 'number') problems[name] = 'is not a number'
      } catch (error) {
        problems[name] = kind === 'number' ? 'is not a number' : `is not JSON: ${(error as Error).message}`
      }
    }
  }
  return Object.keys(problems).length === 0 ? { value, problems } : { problems }
}

export function ArgumentForm({
  fields,
  initial,
  onChange,
}: {
  readonly fields: readonly FormField[]
  readonly initial: FormTexts
  readonly onChange: (outcome: FormOutcome) => void
}): View {
  const [texts, setTexts] = useState(initial)
  const { problems } = readForm(fields, texts)
  const set = (name: string, text: string | undefined): void => {
    const next = { ...texts, [name]: text }
    setTexts(next)
    onChange(readForm(fields, next))
  }
  return (
    <div class="fields">
      {fields.map((field) => {
        const { name, isRequired, description } = field
        const [id, problem] = [`field-${name}`, texts[name] === undefined ? undefined : problems[name]]
        return (
          <div class="field" key={name}>
            <label for={id}>
              {safeText(name)}
              {!isRequired && <span class="dim"> optional</span>}
            </label>
            <FieldInput
              id={id}
              field={field}
              text={texts[name]}
              problem={problem}
              onText={(text: string | undefined) => set(name, text)}
            />
            {description !== undefined && <p class="dim hint">{safeText(description)}</p>}
            {problem !== undefined && (
              <p class="problem" id={`${id}-problem`}>
                {safeText(name)} {safeText(problem)}
              </p>
            )}
          </div>
        )
      })}
    </div>
  )
}

function FieldInput({
  id,
  field: { kind, choices = [] },
  text,
  problem,
  onText,
}: {
  readonly id: string
  readonly field: FormField
  readonly text: string | undefined
  readonly problem: string | undefined
  readonly onText: (text: string | undefined) => void
}): View {
  const shared = {
    id,
    'aria-invalid': problem !== undefined,
    ...(problem !== undefined && { 'aria-describedby': `${id}-problem` }),
  }
  const onInput = ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement }) =>
    onText(currentTarget.value)
  if (kind === 'boolean' || kind === 'choice') {
    const values = kind === 'boolean' ? [true, false] : choices
    return (
      <select
        {...shared}
        value={text ?? ''}
        onChange={(event: { currentTarget: HTMLSelectElement }) => onText(event.currentTarget.value || undefined)}
      >
        <option value="">—</option>
        {values.map((each) => {
          const written = JSON.stringify(each)
          return (
            <option key={written} value={written}>
              {typeof each === 'string' ? safeText(each) : written}
            </option>
          )
        })}
      </select>
    )
  }
  if (kind === 'file') {
    const keep = (file: FileView | undefined): void =>
      onText(file && JSON.stringify({ svcFile: true, filename: file.filename, mediaType: file.mediaType }))
    return <FileField attributes={shared} kept={readFilename(text)} onKept={keep} />
  }
  if (kind === 'lines' || kind === 'json')
    return (
      <textarea
        {...shared}
        class={kind}
        rows={Math.min(12, Math.max(3, (text ?? '').split('\n').length))}
        spellcheck={false}
        value={text ?? ''}
        onInput={onInput}
      />
    )
  return (
    <input
      {...shared}
      inputmode={kind === 'number' ? 'decimal' : 'text'}
      autocomplete="off"
      value={text ?? ''}
      onInput={onInput}
    />
  )
}

/** The name of the file that the text of a field of files holds. */
function readFilename(text: string | undefined): string | undefined {
  const file = text === undefined ? undefined : parseJson(text)
  const name = isJsonObject(file) ? file['filename'] : undefined
  return typeof name === 'string' ? name : undefined
}

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { diffDocuments } from '../../src/compile/diff/document.ts'
import { digestOfDocument, type PublishedDocument } from '../../src/spec/snapshot.ts'

const published = (spec: JsonObject, labels: JsonObject = {}): PublishedDocument => {
  const document = {
    apiVersion: 'svc/v1',
    kind: 'Tool',
    metadata: { name: 'refunds', namespace: 'acme', version: '1.0.0', labels },
    spec: { description: 'Pays money back.', ...spec },
  }
  const content = { kind: 'Tool', id: 'acme.refunds', version: '1.0.0', document } as const
  return { ...content, digest: digestOfDocument(content) }
}

const write = (maximum: number, more: JsonObject = {}): PublishedDocument =>
  published({
    side_effect_class: 'idempotent_write',
    input_schema: {
      inline: {
        type: 'object',
        properties: { amount: { type: 'number', minimum: 0, maximum } },
        required: ['amount'],
        additionalProperties: false,
      },
    },
    ...more,
  })

const told = (before: PublishedDocument, after: PublishedDocument) => {
  const { required, widens, changes } = diffDocuments(before, after)
  return [required, widens, ...changes.map(({ kind, verdict, say }) => [kind, verdict, say])]
}

describe('a Tool document alone', () => {
  test('that accepts more may do more, and the witness was refused before', () => {
    expect(told(write(500), write(900))).toEqual([
      'major',
      true,
      [
        'authority.widened',
        'loosened',
        'acme.refunds: accepts calls that no policy of its own stops; {"amount":900} was refused by the input schema, is allow',
      ],
      ['input.widened', undefined, 'acme.refunds: input accepts more than before'],
    ])
  })

  test('with default policies is not proven, because these are separate documents', () => {
    const gated = { default_policies: ['acme.limit'] }
    expect(told(write(500, gated), write(900, gated)).slice(0, 3)).toEqual([
      'major',
      true,
      [
        'authority.widened',
        'not_proven',
        'acme.refunds: accepts calls that no policy of its own stops, as far as is known',
      ],
    ])
  })

  test.each(['read_only', 'irreversible_action'])('of class %s may accept more', (sideEffects) => {
    const made = (maximum: number) => write(maximum, { side_effect_class: sideEffects })
    expect(told(made(500), made(900))).toEqual([
      'minor',
      false,
      ['input.widened', undefined, 'acme.refunds: input accepts more than before'],
    ])
  })

  test('that no longer sets run.taint is wider authority', () => {
    const [source, plain] = [{ 'svc/content': 'untrusted' }, {}].map((labels) =>
      published({ side_effect_class: 'read_only' }, labels),
    ) as [PublishedDocument, PublishedDocument]
    expect(told(source, plain)).toEqual([
      'major',
      true,
      [
        'taint_source.dropped',
        undefined,
        'acme.refunds: its results no longer set run.taint, so gates on it no longer fire',
      ],
      ['metadata.changed', undefined, 'acme.refunds: labels'],
    ])
    expect(told(plain, source)).toEqual([
      'minor',
      false,
      ['taint_source.added', undefined, 'acme.refunds: its results set run.taint now'],
      ['metadata.changed', undefined, 'acme.refunds: labels'],
    ])
  })
})

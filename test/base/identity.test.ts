import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldIdentity } from '../../src/base/identity.ts'

/** Other spellings of one address. */
const SPELLINGS: readonly (readonly [what: string, spelling: string])[] = [
  ['upper case', 'ANA@ACME.EXAMPLE'],
  ['full-width letters', 'ａｎａ@acme.example'],
  ['a full-width sign', 'ana＠acme.example'],
  ['mathematical letters', '𝐚𝐧𝐚@acme.example'],
  ['a zero-width space', 'ana\u200b@acme.example'],
  ['a soft hyphen', 'an\u00ada@acme.example'],
  ['a variation selector', 'ana\ufe0f@acme.example'],
  ['blanks around it', ' ana@acme.example\u3000'],
  ['a small capital of another block', 'ᴬna@acme.example'],
]

describe('an identity', () => {
  test.each(SPELLINGS)('is the same person with %s', (_, spelling) => {
    expect(foldIdentity(spelling)).toBe('ana@acme.example')
  })

  test('unites letters that differ in case only, whatever their length', () => {
    expect(foldIdentity('STRASSE@x.example')).toBe(foldIdentity('straße@x.example'))
    expect(foldIdentity('ſam@x.example')).toBe('sam@x.example')
  })

  test('stays another person with other letters', () => {
    const names = ['ana@acme.example', 'anna@acme.example', 'ana@acme.example.org', 'ana', 'ána@acme.example']
    expect(new Set(names.map(foldIdentity)).size).toBe(names.length)
  })

  test('folds to a form that folds to itself, for every text and every case of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (name) => {
        const folded = foldIdentity(name)
        expect(foldIdentity(folded)).toBe(folded)
        expect(foldIdentity(name.normalize('NFKC'))).toBe(folded)
      }),
    )
  })
})

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { readDotEnv, writeDotEnv } from '../../src/cli/project/dot-env.ts'
import { removeDirectory } from '../remove-directory.ts'

const directory = mkdtempSync(join(tmpdir(), 'svc-env-'))
afterAll(() => removeDirectory(directory))

const read = async (content: string | Uint8Array): Promise<Record<string, string>> => {
  writeFileSync(join(directory, '.env'), content)
  const found = await readDotEnv(directory)
  return Object.fromEntries([...found].map(([name, { value, place }]) => [`${name} ${place}`, value]))
}

describe('the place of a variable', () => {
  test.each([
    ['a name that begins another', 'API=1\nAPI_KEY=2\n', { 'API .env:1': '1', 'API_KEY .env:2': '2' }],
    ['the last of two', 'API=1\nB=2\nexport API = 3\n', { 'API .env:3': '3', 'B .env:2': '2' }],
    ['one within the quotes of another', 'API=1\nB="x\nAPI=9\n"\n', { 'API .env:1': '1', 'B .env:2': 'x\nAPI=9\n' }],
    ['one in a comment', 'API=1\n# API=2\n', { 'API .env:1': '1' }],
  ])('%s', async (_, text, found) => expect(await read(text)).toEqual(found))

  test('is the line on which its assignment begins, in any file', async () => {
    const name = fc.constantFrom('A', 'AB', 'A_B', 'B', 'BA')
    const value = fc.constantFrom('1', '"2"', '"x\nA=3\nAB=4"', "'B=5\n'", '')
    const lines = fc.array(fc.record({ lead: fc.constantFrom('', '  ', 'export ', '# '), name, value }), {
      maxLength: 8,
    })
    await fc.assert(
      fc.asyncProperty(lines, async (all) => {
        // A value of several lines in a comment would begin a new one.
        const written = all.map((each) => (each.lead === '# ' ? { ...each, value: '1' } : each))
        const text = written.map(({ lead, name: of, value: is }) => `${lead}${of}=${is}\n`).join('')
        const expected = new Map<string, string>()
        const values = new Map<string, string>()
        let line = 1
        for (const { lead, name: of, value: is } of written) {
          if (lead !== '# ') {
            expected.set(of, `.env:${line}`)
            values.set(of, is.replace(/^(["'])(.*)\1$/s, '$2'))
          }
          line += is.split('\n').length
        }
        const found = await (writeFileSync(join(directory, '.env'), text), readDotEnv(directory))
        expect(Object.fromEntries([...found].map(([of, { place }]) => [of, place]))).toEqual(
          Object.fromEntries(expected),
        )
        expect(Object.fromEntries([...found].map(([of, { value: is }]) => [of, is]))).toEqual(
          Object.fromEntries(values),
        )
      }),
    )
  })
})

describe('a file in another encoding', () => {
  const text = 'API_KEY=schlüssel\n'
  const utf16 = (mark: readonly number[], swap: boolean): Buffer => {
    const bytes = Buffer.from(text, 'utf16le')
    return Buffer.concat([Buffer.from(mark), swap ? bytes.swap16() : bytes])
  }
  test.each([
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', utf16([0xff, 0xfe], false)],
    ['UTF-16, high byte first', utf16([0xfe, 0xff], true)],
    ['line ends of Windows', Buffer.from(text.replace('\n', '\r\n'))],
  ])('is read: %s', async (_, bytes) => expect(await read(bytes)).toEqual({ 'API_KEY .env:1': 'schlüssel' }))

  test.each([
    ['UTF-16 without a mark', utf16([], false)],
    ['Latin 1', Buffer.from(text, 'latin1')],
  ])('is refused by its name: %s', async (_, bytes) => {
    const why = { code: 'file_unusable', message: `${join(directory, '.env')} cannot be read: it is no text in UTF-8.` }
    await expect(read(bytes)).rejects.toMatchObject(why)
    await expect(writeDotEnv(directory, 'B', '1')).rejects.toMatchObject(why)
  })

  test('is UTF-8 once it was changed', async () => {
    writeFileSync(join(directory, '.env'), utf16([0xff, 0xfe], false))
    await writeDotEnv(directory, 'B', '1')
    expect([...(await readDotEnv(directory)).keys()]).toEqual(['API_KEY', 'B'])
  })
})

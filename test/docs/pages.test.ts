/** The README and every page under docs/ and docs/design/: what they show is what happens. `UPDATE_PAGES=1` writes what was printed instead. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { FakeScript } from '../fakes/model-server.ts'
import { commandOf } from '../../scripts/tool.js'
import { startFakeOpenai } from '../fakes/openai.ts'
import { svc, temporary } from '../cli/recording-io.ts'
import { anchorsOf, blocksOf, matches } from './page.ts'
import { play, type Difference } from './play.ts'
import { removeDirectory } from '../remove-directory.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const pagesOf = (folder: string): string[] => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`)
const pages = ['README.md', ...pagesOf('docs'), ...pagesOf('docs/design')]
  .filter((path) => path.endsWith('.md'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

const played = pages.filter(({ text }) => text.includes('```console\n'))

/** Where a page with a real model has it; a fake of OpenAI on loopback stands there. */
const MODEL_ADDRESS = '127.0.0.1:8000'
const voucherModel: FakeScript = [
  { calls: [{ name: 'vouchers', arguments: { customer: 'Ana', amount: 80 } }] },
  { say: 'You get a voucher of EUR 80: V-80.' },
]

describe.concurrent('what pages show is what happens', () => {
  test.each(played)(
    '$path',
    async ({ path, text }) => {
      const model = text.includes(MODEL_ADDRESS) ? await startFakeOpenai(voucherModel) : undefined
      const names = new Map(model ? [[MODEL_ADDRESS, new URL(model.url).host]] : [])
      const differences = await play(path, blocksOf(text), names)
      await model?.close()
      // A page that shows a real model calls it twice, with the key that it set.
      const keys = model?.requests.map(({ headers }) => headers.authorization) ?? []
      expect(keys).toEqual(model ? Array<string>(2).fill('Bearer sk-only-an-example-0123456789') : [])
      if (process.env['UPDATE_PAGES']) writeFileSync(join(ROOT, path), differences.reduceRight(updated, text))
      expect(differences).toEqual([])
    },
    300_000,
  )
})

/** The page with what was printed; from its end, so that the places of what comes before stay. */
const updated = (text: string, { line, command, expected, actual }: Difference): string => {
  const start = text.split('\n').slice(0, line).join('\n').length
  const shown = (output: string): string => [...(command === undefined ? [] : [`$ ${command}`]), output].join('\n')
  return text.slice(0, start) + text.slice(start).replace(shown(expected).trimEnd(), () => shown(actual).trimEnd())
}

/** Commands without what they print: each succeeds in a project that was published, in the order of the block. */
const setUp = ['svc init desk --full', 'cd desk', 'svc publish --deploy']
const bare = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map((match) => ({ path, lines: match[1]!.trimEnd().split('\n') }))
    // The two commands of a fresh clone are what runs this test.
    .filter(({ lines }) => !lines[0]!.startsWith('npm ci')),
)

describe.concurrent('commands that a page lists can be given as they stand', () => {
  test.each(bare)(
    '$path: $lines.0',
    async ({ path, lines }) => {
      const parts = [...setUp, ...lines].map((line) => {
        const command = line.replace(/ +# .*$/, '')
        // Nobody is there to approve, so a run that needs an approval ends with 3.
        return { command, output: ['…'], exit: command.startsWith('svc run ') ? 3 : 0 }
      })
      expect(await play(path, [{ is: 'console', line: 1, parts }])).toEqual([])
    },
    300_000,
  )
})

test('the card of the README is the one that the demo shows on a terminal', async () => {
  const { path, remove } = temporary()
  const { stderr } = await svc(['demo', '--speed', '0'], { cwd: path, tty: true, answers: ['a'] })
  remove()
  const [, shown = ''] = /```text\n([\s\S]*?)```/.exec(pages[0]!.text)!
  // The card as it asks; it is drawn again in place with its outcome.
  const [card = ''] = /^┌(?:.*\n[│└])*.*\n/m.exec(stderr) ?? []
  expect({ card, same: matches(shown.trimEnd().split('\n'), card, new Map()) }).toEqual({ card, same: true })
}, 300_000)

test('every document that a page shows is a file of what it plays', () => {
  for (const { path, text } of pages) {
    const shown = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].filter(([block]) => block.includes('apiVersion:'))
    expect({ path, shown: shown.map(([, body]) => body!.split('\n')[0]) }).toEqual({
      path,
      shown: shown.map(() => expect.stringMatching(/^# [\w./-]+\.yaml$/) as unknown),
    })
  }
})

test('the TypeScript of the pages compiles under the strictest settings', () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-blocks-'))
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
    pages.forEach(({ path, text }) =>
      blocksOf(text).forEach((block) => {
        if (block.is === 'ts')
          writeFileSync(
            join(directory, `${path.replaceAll(/\W/g, '-')}-${block.line}.ts`),
            `${block.text}\nexport {}\n`,
          )
      }),
    )
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      types: ['node'],
      // As another package that is installed.
      paths: { '@svc-agents/client': [join(ROOT, 'clients/typescript/dist/index.d.ts')] },
    }
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const [node, tsc] = commandOf('tsc')
    expect(spawnSync(node, [tsc, '-p', directory], { encoding: 'utf8' }).stdout).toBe('')
  } finally {
    removeDirectory(directory)
  }
})

test.each([
  ['a line', 'said\n', true],
  ['nothing', '', true],
  ['a failure', 'error[usage]: Unknown option.\n# exit 2\n', false],
])('a transcript that leaves all its output out stands for %s', (_, said, stands) => {
  expect(matches(['…'], said, new Map())).toBe(stands)
})

test('every link of a page leads to a file or a heading that is there', () => {
  const broken = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [file = '', heading] = link.split('#')
        const target = file === '' ? join(ROOT, path) : resolve(ROOT, dirname(path), file)
        if (!existsSync(target)) return true
        return heading !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(heading)
      })
      .map((link) => `${path} → ${link}`),
  )
  expect(broken).toEqual([])
})

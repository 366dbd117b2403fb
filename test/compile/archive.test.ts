import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { packTar, unpackTar, type TarEntry } from 'modern-tar'
import { afterEach, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { isFailure } from '../../src/base/failure.ts'
import { ARCHIVE_MANIFEST, readArchive, writeArchive, type UnpackedArchive } from '../../src/compile/package/archive.ts'
import { compileClosure } from '../../src/compile/compile.ts'
import { findContentsFault } from '../../src/compile/package/contents.ts'
import { packBundle } from '../../src/compile/package/pack.ts'
import { nothingPublished } from '../../src/compile/state/published.ts'
import { loadFiles, loadWorkspace } from '../../src/documents/workspace/load.ts'
import { bundleOf, compileFiles, DESK, type Files } from './make.ts'
import { removeDirectory } from '../remove-directory.ts'

async function archiveOf(files: Files): Promise<UnpackedArchive> {
  const { lock } = await compileFiles(files)
  return packBundle(loadFiles(files), 'bundle.yaml', lock!)
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text)

/** What an archive is refused for. */
async function refusal(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    if (isFailure(error, 'bundle_invalid')) return error.message
    throw error
  }
  return 'accepted'
}

/** An archive with a manifest that fits, but for what `change` does to the entries. */
async function tarOf(
  files: Files,
  change: (entries: TarEntry[]) => TarEntry[] = (entries) => entries,
): Promise<Uint8Array> {
  const manifest = {
    v: 1,
    root: 'bundle.yaml',
    files: Object.entries(files).map(([path, text]) => ({
      path,
      size: Buffer.byteLength(text),
      sha256: digestOf(text),
    })),
  }
  const all = { ...files, [ARCHIVE_MANIFEST]: JSON.stringify(manifest) }
  const entries = Object.entries(all).map(([name, body]): TarEntry => ({
    header: { name, size: Buffer.byteLength(body) },
    body,
  }))
  return gzipSync(await packTar(change(entries)))
}

describe('packing', () => {
  test('the order of files does not change the bytes', async () => {
    const first = await writeArchive(await archiveOf(DESK))
    const second = await writeArchive(await archiveOf(Object.fromEntries(Object.entries(DESK).toReversed())))
    expect(Buffer.compare(first.bytes, second.bytes)).toBe(0)
    expect(first.digest).toBe(second.digest)
  })

  test('locale and time zone do not change the bytes', () => {
    const script = `
      import { createHash } from 'node:crypto'
      import { writeArchive } from './src/compile/package/archive.ts'
      const files = new Map(['ä.yaml', 'Z.yaml', 'a.yaml', 'i.yaml', 'I2.yaml'].map((path) => [path, Buffer.from(path)]))
      const { bytes } = await writeArchive({ root: 'a.yaml', files })
      console.log(createHash('sha256').update(bytes).digest('hex'))`
    const run = (env: Record<string, string>): string =>
      execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      }).trim()
    const [turkish, german] = [
      run({ LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', TZ: 'Asia/Tokyo' }),
      run({ LANG: 'C', LC_ALL: 'C', TZ: 'UTC' }),
    ]
    expect(turkish).toMatch(/^[0-9a-f]{64}$/)
    expect(turkish).toBe(german)
  })

  test('entries are sorted, without owner and time, and not compressed', async () => {
    const { bytes } = await writeArchive(await archiveOf(DESK))
    const entries = await unpackTar(gunzipSync(bytes))
    expect(entries.map(({ header }) => header.name)).toEqual([...Object.keys(DESK), ARCHIVE_MANIFEST].sort())
    for (const { header } of entries)
      expect(header).toMatchObject({
        type: 'file',
        mode: 0o644,
        mtime: new Date(0),
        uid: 0,
        gid: 0,
        uname: '',
        gname: '',
      })
    // The ten bytes of the header, then the first stored block.
    expect([...bytes.subarray(0, 11)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1])
  })

  test('leaves out files that no document names', async () => {
    const { files } = await archiveOf({ ...DESK, 'notes.md': 'mine', 'out.log': 'x' })
    expect([...files.keys()].sort()).toEqual(Object.keys(DESK).sort())
  })

  test('packs a bundle below the workspace from its own directory', async () => {
    const moved = Object.fromEntries(Object.entries(DESK).map(([path, text]) => [`shop/${path}`, text]))
    const { lock } = await compileFiles(moved, { root: 'shop' })
    const { root, files } = packBundle(loadFiles({ ...moved, 'other/x.yaml': 'a: 1' }), 'shop/bundle.yaml', lock!)
    expect([root, [...files.keys()].sort()]).toEqual(['bundle.yaml', Object.keys(DESK).sort()])
  })

  describe('in a directory', () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-pack-'))
    afterEach(() => removeDirectory(directory))

    test('refuses a symbolic link, even one that stays inside', async () => {
      writeFileSync(join(directory, 'bundle.yaml'), DESK['bundle.yaml']!)
      symlinkSync('bundle.yaml', join(directory, 'again.md'))
      const { lock } = await compileFiles(DESK)
      const workspace = await loadWorkspace(directory)
      expect(await refusal(() => packBundle(workspace, 'bundle.yaml', lock!))).toBe(
        '"again.md" is a symbolic link; a bundle must not contain any.',
      )
    })

    test('does not compile a bundle that cannot be packed', async () => {
      for (const [path, text] of Object.entries(DESK)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true })
        writeFileSync(join(directory, path), text)
      }
      const said = async () => {
        const workspace = await loadWorkspace(directory)
        const { bundle, findings } = await compileClosure({ workspace, root: '', published: nothingPublished })
        return [bundle?.root, ...findings.map(({ path, rule, message }) => `${path} ${rule} ${message}`)]
      }
      expect(await said()).toEqual(['acme.desk'])
      symlinkSync('bundle.yaml', join(directory, 'again.md'))
      expect(await said()).toEqual([
        undefined,
        'bundle.yaml bundle/symlink "again.md" in this bundle is a symbolic link.',
      ])
      rmSync(join(directory, 'again.md'))
      writeFileSync(join(directory, 'prompts/desk.md'), 'x'.repeat(1024 * 1024 + 1))
      expect(await said()).toEqual([
        undefined,
        'bundle.yaml doc/too-large prompts/desk.md has 1048577 bytes; a file has at most 1048576.',
      ])
    })
  })
})

describe('reading', () => {
  test('gives back what was packed, and the same compiles to the same closure', async () => {
    const archive = await archiveOf(DESK)
    const { bytes, digest } = await writeArchive(archive)
    const read = await readArchive(bytes)
    expect(read.digest).toBe(digest)
    expect(read.root).toBe('bundle.yaml')
    const [again, before] = await Promise.all([
      bundleOf(Object.fromEntries([...read.files].map(([path, each]) => [path, Buffer.from(each).toString()]))),
      bundleOf(DESK),
    ])
    expect(again.closureDigest).toBe(before.closureDigest)
  })

  const BASE: Files = { 'bundle.yaml': 'a', 'b.md': 'b' }
  const entry = (header: Partial<TarEntry['header']>, body = ''): TarEntry => ({
    header: { name: 'x', size: body.length, ...header },
    body,
  })

  test.each<[string, (entries: TarEntry[]) => TarEntry[], string]>([
    ['as it is', (all) => all, 'accepted'],
    [
      'a symbolic link',
      (all) => [...all, entry({ name: 'l', type: 'symlink', linkname: '/etc/passwd' })],
      '"l" is a symlink; a bundle holds regular files only',
    ],
    [
      'a hard link',
      (all) => [...all, entry({ name: 'l', type: 'link', linkname: 'b.md' })],
      '"l" is a link; a bundle holds regular files only',
    ],
    [
      'a directory',
      (all) => [...all, entry({ name: 'd/', type: 'directory' })],
      '"d/" is a directory; a bundle holds regular files only',
    ],
    [
      'a fifo',
      (all) => [...all, entry({ name: 'f', type: 'fifo' })],
      '"f" is a fifo; a bundle holds regular files only',
    ],
    ['a file twice', (all) => [...all, entry({ name: 'b.md' }, 'b')], '"b.md" is there twice'],
    ['a file of its own', (all) => [...all, entry({ name: 'c.md' }, 'c')], '"c.md" is not in its manifest'],
    [
      'a file fewer',
      (all) => all.filter(({ header }) => header.name !== 'b.md'),
      '"b.md" is in its manifest and not in the archive',
    ],
    [
      'other bytes',
      (all) => all.map((each) => (each.header.name === 'b.md' ? entry({ name: 'b.md' }, 'B') : each)),
      '"b.md" is not what its manifest says',
    ],
    [
      'no manifest',
      (all) => all.filter(({ header }) => header.name !== ARCHIVE_MANIFEST),
      `it has no ${ARCHIVE_MANIFEST}`,
    ],
    [
      'a broken manifest',
      (all) =>
        all.map((each) => (each.header.name === ARCHIVE_MANIFEST ? entry({ name: ARCHIVE_MANIFEST }, '{') : each)),
      `its ${ARCHIVE_MANIFEST} cannot be read`,
    ],
  ])('an archive with %s', async (_, change, expected) => {
    const told = await refusal(async () => readArchive(await tarOf(BASE, change)))
    expect(told).toBe(expected === 'accepted' ? expected : `The archive cannot be read: ${expected}.`)
  })

  test.each(['../b.md', '/b.md', 'a/../b.md', 'C:/b.md', 'a\\b.md', './b.md', 'a//b.md', 'cafe\u0301.md', 'b.md '])(
    'a file named %j is refused',
    async (name) => {
      expect(await refusal(async () => readArchive(await tarOf({ 'bundle.yaml': 'a', [name]: 'b' })))).toMatch(
        /is not a valid path in a bundle|must be written as/,
      )
    },
  )

  test('names that differ by case only are refused', async () => {
    expect(await refusal(async () => readArchive(await tarOf({ 'bundle.yaml': 'a', 'A.md': '1', 'a.md': '2' })))).toBe(
      '"A.md" and "a.md" differ by case only.',
    )
  })

  test.each([
    ['nothing', new Uint8Array()],
    ['text', bytesOf('hello')],
    ['gzip of text', gzipSync('hello'.repeat(300))],
  ])('%s is no archive', async (_, bytes) => {
    expect(await refusal(() => readArchive(bytes))).toMatch(/^The archive cannot be read: /)
  })

  test('refuses an archive that unpacks to too many bytes before it is in memory', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    expect(await refusal(() => readArchive(bomb))).toBe(
      'The archive cannot be read: it unpacks to more than 33554432 bytes.',
    )
  })
})

describe('an error names the exceeded limit', () => {
  test.each<[string, (readonly [string, number])[], string]>([
    ['a file', [['a', 1024 * 1024 + 1]], 'a has 1048577 bytes; a file has at most 1048576.'],
    [
      'all files',
      Array.from({ length: 33 }, (_, index) => [`f${index}`, 1024 * 1024] as const),
      'The bundle has 34603008 bytes; at most 33554432 are allowed.',
    ],
    [
      'their number',
      Array.from({ length: 2001 }, (_, index) => [`f${index}`, 1] as const),
      'A bundle has at most 2000 files; this one has 2001.',
    ],
  ])('%s', async (_, files, expected) => {
    expect(findContentsFault(files)?.what).toBe(expected)
  })
})

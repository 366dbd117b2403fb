/** A checkout with CR LF publishes what one with LF does. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { svc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

test.each(['refund', 'intake', 'report'])(
  'the template %s has the same digests and the same bundle',
  async (template) => {
    const made = async (line: string) => {
      const name = `${template}-${line.length}`
      await svc(['init', name, '-t', template], { cwd: parent })
      const cwd = join(parent, name)
      for (const each of readdirSync(cwd, { recursive: true, withFileTypes: true })) {
        if (!each.isFile()) continue
        const path = join(each.parentPath, each.name)
        writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/\r?\n/g, line))
      }
      // Of the directory's name.
      const config = join(cwd, 'svc.config.yaml')
      writeFileSync(config, readFileSync(config, 'utf8').replace(/^workspace: .*$/m, 'workspace: acme'))
      const compiled = await svc(['compile', '--json'], { cwd })
      expect(compiled).toMatchObject({ code: 0 })
      expect((await svc(['bundle', 'pack', '-o', 'bundle.tgz'], { cwd })).code).toBe(0)
      return {
        compiled: compiled.stdout,
        lock: readFileSync(join(cwd, 'svc.lock'), 'utf8').replaceAll('\r', ''),
        bundle: readFileSync(join(cwd, 'bundle.tgz')),
      }
    }
    const [unix, windows] = [await made('\n'), await made('\r\n')]
    // Only places in the files differ.
    const withoutOffsets = (text: string): string => text.replaceAll(/"offset":\d+/g, '"offset":0')
    expect(withoutOffsets(windows.compiled)).toBe(withoutOffsets(unix.compiled))
    expect(windows.lock).toBe(unix.lock)
    expect(windows.bundle.equals(unix.bundle)).toBe(true)
  },
)

// The folder in which all handlers work.
import { realpathSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = realpathSync(process.env.CODER_PROJECT || fileURLToPath(new URL('../project', import.meta.url)))

/** @returns where a path of the project is; one that leads out of it, also by a link, is an error */
export function pathInside(path) {
  const file = resolve(root, path)
  let folder = file
  for (;;) {
    try {
      const real = realpathSync(folder)
      if (real === root || real.startsWith(root + sep)) return file
      throw new Error(`${path} is outside the project.`)
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
      folder = dirname(folder)
    }
  }
}

// The notices of the libraries whose code is in dist/: most licences ask that copies of the code carry their text.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param metafiles of esbuild
 * @param root directory whose node_modules the paths in them name
 * @returns name, version, licence and licence text of each library with at least one byte in an output, sorted by name
 * @throws where a library names no licence, or one other than MIT without its text
 */
export function noticesOf(metafiles, root) {
  const directories = new Set(
    metafiles.flatMap(({ outputs }) =>
      Object.values(outputs).flatMap(({ inputs }) =>
        Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
          const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)
          return found && bytesInOutput > 0 ? [found[0]] : []
        }),
      ),
    ),
  )
  // Ours is MIT too: the text for a library that names this licence without holding it.
  const mitText = readFileSync(join(root, 'LICENSE'), 'utf8').trim()
  const libraries = [...directories].map((directory) => libraryOf(join(root, directory), mitText))
  libraries.sort((a, b) => (a.title < b.title ? -1 : 1))
  const parts = libraries.map(({ title, license, text }) => [`${title} (${license})`, '', text].join('\n'))
  const intro = 'The program contains code of these libraries. Each is followed by its licence.'
  return `${[intro, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

function libraryOf(directory, mitText) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const title = `${name} ${version}`
  if (typeof license !== 'string') throw new Error(`${title} names no licence in its package.json.`)
  const file = readdirSync(directory)
    .sort()
    .find((each) => /^(?:licen[cs]e|copying)(?:[.-]|$)/i.test(each))
  if (file !== undefined)
    return { title, license, text: readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n').trim() }
  if (license !== 'MIT') throw new Error(`${title} (${license}) holds no licence text.`)
  const holder = (typeof author === 'string' ? author : author?.name) ?? `the authors of ${name}`
  return { title, license, text: mitText.replace(/^Copyright .*$/m, `Copyright (c) ${holder}`) }
}

// The libraries whose code is in dist/, by the bundler's own record, and their notices: most licences ask that copies of the code carry
// their text.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @param metafiles of esbuild
 * @param root directory whose node_modules the paths in them name
 * @returns name, version, licence and licence text of each library with at least one byte in an output, sorted by name
 * @throws where a library names no licence, or one other than MIT without its text
 */
export function bundledLibraries(metafiles, root) {
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
  return libraries.sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1))
}

/** The text of dist/THIRD-PARTY-NOTICES.txt. */
export function noticesOf(libraries) {
  const parts = libraries.map((each) => [`${titleOf(each)} (${each.license})`, '', each.text].join('\n'))
  const intro = 'The program contains code of these libraries. Each is followed by its licence.'
  return `${[intro, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

const titleOf = ({ name, version }) => `${name} ${version}`

function libraryOf(directory, mitText) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const title = titleOf({ name, version })
  if (typeof license !== 'string') throw new Error(`${title} names no licence in its package.json.`)
  const file = readdirSync(directory)
    .sort()
    .find((each) => /^(?:licen[cs]e|copying)(?:[.-]|$)/i.test(each))
  if (file !== undefined)
    return { name, version, license, text: readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n').trim() }
  if (license !== 'MIT') throw new Error(`${title} (${license}) holds no licence text.`)
  const holder = (typeof author === 'string' ? author : author?.name) ?? `the authors of ${name}`
  return { name, version, license, text: mitText.replace(/^Copyright .*$/m, `Copyright (c) ${holder}`) }
}

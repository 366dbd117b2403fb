// Reads {tool, arguments, …} from stdin and answers on stdout: `list`, `read` or `write`.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathInside, root } from './project.mjs'

const ACTS = {
  list: () => ({
    files: readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => `${each.parentPath}/${each.name}`.slice(root.length + 1))
      .filter((path) => !/^(\.git|node_modules)\//.test(path))
      .slice(0, 1000),
  }),
  read: ({ path }) => ({ text: readFileSync(pathInside(path), 'utf8') }),
  write({ path, text }) {
    const file = pathInside(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return { path }
  },
}

const { arguments: args } = JSON.parse(readFileSync(0, 'utf8'))
try {
  process.stdout.write(JSON.stringify(ACTS[process.argv[2]](args)))
} catch (error) {
  // The coding agent reads this.
  process.stderr.write(error.message)
  process.exitCode = 1
}

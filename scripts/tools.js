// Installs the packages of the folders that are named (`test`, `test/api/tools`, …) from their lock files, each once: what only tests
// and generators use is large, and the first command of a checkout does without it. No install script runs.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** True where each package that the folder names is there at its version, in the folder or above it. */
function isInstalled(folder) {
  const {
    dependencies = {},
    devDependencies = {},
    optionalDependencies = {},
  } = read(join(root, folder, 'package.json'))
  const { packages } = read(join(root, folder, 'package-lock.json'))
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).every((name) => {
    const locked = packages[`node_modules/${name}`]
    if (locked.os && !(locked.os.includes(process.platform) && locked.cpu.includes(process.arch))) return true
    return [folder, '.'].some((each) => {
      const file = join(root, each, 'node_modules', name, 'package.json')
      return existsSync(file) && read(file).version === locked.version
    })
  })
}

/** @returns {boolean} false where npm could not install them */
export function installTools(folder) {
  if (isInstalled(folder)) return true
  process.stderr.write(`Installing the packages of ${folder} (once)\n`)
  // Said again, since `npm run` hands its own settings down: some packages are for another Node, and a failure must say why.
  const settings = ['--engine-strict=false', '--loglevel=error', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status, stdout, stderr } = spawnSync('npm', ['ci', ...settings], {
    cwd: join(root, folder),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.stderr.write(`${stdout}${stderr}The packages of ${folder} could not be installed.\n`)
  return status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const failed = process.argv.slice(2).filter((folder) => !installTools(folder))
  if (failed.length > 0) process.exitCode = 1
}

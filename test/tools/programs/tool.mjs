// A tool as an author writes one: reads the call, does what its arguments say, prints the result.
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'

const chunks = []
for await (const chunk of process.stdin) chunks.push(chunk)
const call = JSON.parse(Buffer.concat(chunks).toString('utf8'))
const { arguments: args } = call

if (args.do === 'echo') process.stdout.write(JSON.stringify(call))
if (args.do === 'environment') process.stdout.write(JSON.stringify({ ...process.env, cwd: process.cwd() }))
if (args.do === 'nothing') process.exit(0)
if (args.do === 'text') process.stdout.write('refunded!')
if (args.do === 'complain') {
  process.stderr.write(`${process.env.ERP_TOKEN} ${'.'.repeat(args.behind)}`)
  process.exit(3)
}
if (args.do === 'fail') {
  process.stderr.write('warning: old order\nNo such order.')
  process.exit(3)
}
if (args.do === 'flood') process.stdout.write(JSON.stringify('x'.repeat(1024 * 1024)))
if (args.do === 'die') process.kill(process.pid, 'SIGKILL')
if (args.do === 'hang') {
  // What it starts itself must be ended with it.
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  writeFileSync(args.file, JSON.stringify([process.pid, child.pid]))
  setInterval(() => {}, 1000)
}
if (args.do === 'leave') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    stdio: 'inherit',
    detached: args.detached,
  })
  writeFileSync(args.file, JSON.stringify([child.pid]))
  process.stdout.write(JSON.stringify({ left: true }), () => process.exit(0))
}

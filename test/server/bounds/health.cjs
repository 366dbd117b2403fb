/**
 * Asks a server for its health all the time, on one connection, from a process of its own. What an answer took is counted in
 * processor time that the server's main thread spent between the question and the answer: on a machine with nothing else to do
 * this is how long the answer took, and on a busy one it stays the same.
 */
const { readFileSync } = require('node:fs')
const { connect } = require('node:net')

const [pid, port] = process.argv.slice(2).map(Number)
const REQUEST = `GET /v1/healthz HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`
/** Below the number of requests after which the server closes a connection. */
const PER_CONNECTION = 900

const cpuMs = () => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6

let longestMs = 0
let answers = 0
let failed = 0
let onAnswer

function open() {
  let left = PER_CONNECTION
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  let before
  const ask = () => {
    before = cpuMs()
    socket.write(REQUEST)
  }
  socket.once('connect', ask)
  socket.on('data', (bytes) => {
    longestMs = Math.max(longestMs, cpuMs() - before)
    answers++
    if (!bytes.toString('latin1').startsWith('HTTP/1.1 200 ')) failed++
    if (onAnswer) onAnswer()
    if (--left > 0) setTimeout(ask, 1)
    else socket.end()
  })
  socket.on('error', () => failed++)
  socket.on('close', () => setTimeout(open, left > 0 ? 100 : 0))
}
open()

process.on('message', () => {
  // The answer that is under way counts to what was asked meanwhile.
  onAnswer = () => {
    onAnswer = undefined
    process.send({ longestMs, answers, failed })
    longestMs = answers = failed = 0
  }
})
process.on('disconnect', () => process.exit())

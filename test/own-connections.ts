/**
 * Each `fetch` of a test has a connection of its own. Node keeps connections for later requests: one that a server closes at the moment
 * at which it is used again (the server drains, is killed, or a slow test let its 5 s go by) fails the request, and says nothing about
 * the server. Clients that repeat such requests are tested with servers that close.
 */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
const holder = globalThis as unknown as Record<symbol, { constructor: new (options: object) => unknown }>

// The first look at a class of `fetch` loads undici, which sets its dispatcher.
void globalThis.Response
const { constructor: Agent } = holder[DISPATCHER]!
// Undici's 300 s would outlast the test, whose failure would not name the request.
Object.assign(holder, { [DISPATCHER]: new Agent({ pipelining: 0, headersTimeout: 50_000 }) })

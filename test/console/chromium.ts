/** The driver of the browser, for programs outside the folder of the tests, whose packages it is one of. */
export { chromium, type CDPSession, type Page } from 'playwright-core'

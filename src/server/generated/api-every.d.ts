export { checks } from './api-first.js'

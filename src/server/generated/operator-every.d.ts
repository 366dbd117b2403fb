export { checks } from './operator-first.js'

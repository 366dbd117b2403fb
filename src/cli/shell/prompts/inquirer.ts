/** The questions of the library that this program asks; the bundler leaves the others out. */
export { confirm, input, password, select } from '@inquirer/prompts'

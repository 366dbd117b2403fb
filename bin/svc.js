#!/usr/bin/env node
import { startProcess } from '../dist/start.js'

await startProcess(process.argv.slice(2))

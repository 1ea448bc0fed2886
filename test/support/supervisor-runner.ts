/**
 * A process that supervises the programs it is given as JSON, with a short limit for stopping. Tests kill it.
 */
import { type Program, supervise } from '../../scripts/supervisor.ts';

const [programs = '[]', stopLimitMs = '10000'] = process.argv.slice(2);
const parsed: Program[] = JSON.parse(programs);
process.exitCode = await supervise(parsed, Number.parseInt(stopLimitMs, 10));

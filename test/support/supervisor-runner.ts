/**
 * A process that supervises the programs it is given as JSON. Tests kill it.
 */
import { type Program, supervise } from '../../scripts/supervisor.ts';

const [programs = '[]'] = process.argv.slice(2);
const parsed: Program[] = JSON.parse(programs);
process.exitCode = await supervise(parsed);

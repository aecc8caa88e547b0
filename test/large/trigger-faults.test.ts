import { useSandbox } from '../integration/sandbox';
import { surviveFaults, useTriggerLife } from '../integration/trigger-life';

const sandbox = useSandbox({ contacts: 0 });

// Faults that are retried after a wait. ALL_FAULTS=1 adds those that are handled like the first one.
const others = [{ status: 429 }, { status: 500 }, { drop: 'before' }];
const faults = [{ status: 503 }, { drop: 'after' }, ...(process.env['ALL_FAULTS'] ? others : [])];
surviveFaults(sandbox, useTriggerLife(sandbox), faults);

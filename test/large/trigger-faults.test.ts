import { useSandbox } from '../integration/sandbox';
import { surviveFaults, useTriggerLife } from '../integration/trigger-life';

const sandbox = useSandbox({ contacts: 0 });

// The other faults, which are retried after a wait.
surviveFaults(sandbox, useTriggerLife(sandbox), [{ status: 429 }, { status: 500 }, { status: 503 }, { drop: 'before' }]);

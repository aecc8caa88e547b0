import { surviveFaults } from '../../support/survive-faults';

// Faults that are retried after a wait. ALL_FAULTS=1 adds those that are handled like the first one.
const others = [{ status: 429 }, { status: 500 }, { drop: 'before' }];
surviveFaults([{ status: 503 }, { drop: 'after' }, ...(process.env['ALL_FAULTS'] ? others : [])]);

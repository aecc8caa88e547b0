import { tellHappenings } from '../events/tell.ts';
import { grantableScopes, scopeForRecordsOf } from '../oauth/scopes.ts';
import { Problem } from '../problem.ts';
import { type Job, jobs, type JobStatus } from '../schemas/jobs.ts';
import type { StoredRecord } from '../schemas/resource.ts';
import type { Service } from '../service.ts';
import type { Table } from '../store/table.ts';
import { someMore } from './steps.ts';

const runningAtOnce = 5;
const keptForMs = 7 * 24 * 60 * 60 * 1000;

/** The jobs and the work on them. All there is to know is in the store, so a restart goes on. */
export class JobQueue {
	private readonly service: Service;
	private readonly table: Table;

	constructor(service: Service) {
		this.service = service;
		this.table = service.store.table(jobs.name)!;
	}

	/** The jobs whose turn it is: those begun, then the others in the order in which they came. */
	running(): Job[] {
		const begun = this.inStatus('processing', runningAtOnce);
		return [...begun, ...this.inStatus('queued', runningAtOnce - begun.length)];
	}

	/**
	 * Does the next lines of a job. They, their results and the progress are kept together or not at
	 * all, so that no line is done twice and none is left out, whenever the process ends.
	 */
	step(id: string): void {
		const { store } = this.service;
		try {
			store.transaction(() => {
				const job = this.table.find(id) as Job;
				if (hasEnded(job)) return;
				if (!this.mayGoOn(job)) {
					const detail = 'The user who asked for it may not do it any more. Lines without a result were not done.';
					this.end(job, 'failed', detail);
					return;
				}
				const { progress, isLast } = someMore(this.service, job);
				const state = isLast ? this.ending('completed') : { status: 'processing' };
				this.save(job, { started_at: job.started_at ?? this.now(), ...progress, ...state });
			});
		} catch (error) {
			if (!(error instanceof Problem)) console.error(error);
			const reason = error instanceof Problem ? error.message : 'This is a fault of the service.';
			const detail = `${reason} The lines without a result were not done.`;
			store.transaction(() => this.end(this.table.find(id) as Job, 'failed', detail));
		}
	}

	/**
	 * Ends a job early. What is done stays done.
	 *
	 * @throws Problem invalid_state_transition if it has ended already
	 */
	cancel(job: Job): Job {
		if (!hasEnded(job)) return this.end(job, 'canceled');
		throw new Problem('invalid_state_transition', `The job has ended already: it is ${job.status}.`, {
			members: { from: job.status, to: 'canceled', allowed: [] },
		});
	}

	/** A user's job goes on as long as the user may do what it does. */
	private mayGoOn(job: Job): boolean {
		const { type, id } = job.created_by;
		if (type !== 'user') return true;
		const member = this.service.store.members.find(id);
		return member !== undefined && grantableScopes(member.role, [scopeForRecordsOf(job)]).length > 0;
	}

	private end(job: Job, status: JobStatus, error: string | null = null): Job {
		this.service.store.jobItems.drop(job.id);
		return this.save(job, { ...this.ending(status), error });
	}

	private ending(status: JobStatus): Partial<Job> {
		const now = this.service.now();
		return {
			status,
			finished_at: this.now(),
			results_expire_at: new Date(now + keptForMs).toISOString(),
		};
	}

	private save(job: Job, change: Partial<StoredRecord>): Job {
		const { service } = this;
		const at = service.store.writeClock.stamp(service.now());
		const saved = { ...job, ...change, version: job.version + 1, updated_at: at };
		this.table.save(saved);
		const { created_by: actor, request } = job;
		const writing = { ...service, resource: jobs, actor, request, now: service.now() };
		tellHappenings(writing, saved, job);
		return saved;
	}

	private inStatus(status: JobStatus, limit: number): Job[] {
		const conditions = [{ sql: '"status" = ?', values: [status] }];
		const order = [{ column: 'id', descending: false }];
		const selection = { conditions, order, after: undefined, includeDeleted: false, limit };
		return this.table.page(selection).map((document) => JSON.parse(document) as Job);
	}

	private now(): string {
		return new Date(this.service.now()).toISOString();
	}
}

export const hasEnded = ({ finished_at: finishedAt }: Job): boolean => finishedAt !== null;

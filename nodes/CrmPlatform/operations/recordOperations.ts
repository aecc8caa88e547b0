import type { Operation } from '../model';
import { create } from './create';
import { deleteRecord } from './delete';
import { exportFile } from './exportFile';
import { get } from './get';
import { getMany } from './getMany';
import { importFile } from './importFile';
import { addTag, removeTag } from './tags';
import { update } from './update';
import { upsert } from './upsert';

export const createRecord = create('Create a record');

/** The operations of every kind of record but its creation, which may have names of its own. */
export const storedRecordOperations: Operation[] = [upsert, deleteRecord, get, getMany, update];

export const recordOperations: Operation[] = [createRecord, ...storedRecordOperations];

export const fileOperations: Operation[] = [exportFile(), importFile()];

export const tagOperations: Operation[] = [addTag(), removeTag()];

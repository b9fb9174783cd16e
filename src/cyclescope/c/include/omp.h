#ifndef CYCLESCOPE_OMP_H
#define CYCLESCOPE_OMP_H
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
void omp_set_num_threads(int);
int omp_get_num_procs(void);
int omp_get_thread_limit(void);
int omp_get_team_num(void);
int omp_get_num_teams(void);
int omp_get_num_devices(void);
int omp_get_default_device(void);
void omp_set_default_device(int);
int omp_get_initial_device(void);
int omp_is_initial_device(void);
int omp_in_parallel(void);
int omp_get_level(void);
void omp_set_dynamic(int);
int omp_get_dynamic(void);
typedef struct { long held; } omp_lock_t;
typedef struct { long held, count; } omp_nest_lock_t;
void omp_init_lock(omp_lock_t *);
void omp_destroy_lock(omp_lock_t *);
void omp_set_lock(omp_lock_t *);
void omp_unset_lock(omp_lock_t *);
int omp_test_lock(omp_lock_t *);
void omp_init_nest_lock(omp_nest_lock_t *);
void omp_destroy_nest_lock(omp_nest_lock_t *);
void omp_set_nest_lock(omp_nest_lock_t *);
void omp_unset_nest_lock(omp_nest_lock_t *);
int omp_test_nest_lock(omp_nest_lock_t *);
int omp_get_device_num(void);
int omp_get_ancestor_thread_num(int);
int omp_get_team_size(int);
int omp_get_active_level(void);
int omp_get_max_active_levels(void);
void omp_set_max_active_levels(int);
int omp_get_nested(void);
void omp_set_nested(int);
int omp_get_cancellation(void);
int omp_get_max_task_priority(void);
int omp_in_final(void);
typedef enum {
    omp_sched_static = 1,
    omp_sched_dynamic,
    omp_sched_guided,
    omp_sched_auto
} omp_sched_t;
void omp_set_schedule(omp_sched_t, int);
void omp_get_schedule(omp_sched_t *, int *);
typedef enum {
    omp_default_mem_space,
    omp_large_cap_mem_space,
    omp_const_mem_space,
    omp_high_bw_mem_space,
    omp_low_lat_mem_space
} omp_memspace_handle_t;
typedef enum {
    omp_null_allocator,
    omp_default_mem_alloc,
    omp_large_cap_mem_alloc,
    omp_const_mem_alloc,
    omp_high_bw_mem_alloc,
    omp_low_lat_mem_alloc,
    omp_cgroup_mem_alloc,
    omp_pteam_mem_alloc,
    omp_thread_mem_alloc
} omp_allocator_handle_t;
typedef enum {
    omp_atk_sync_hint = 1,
    omp_atk_alignment,
    omp_atk_access,
    omp_atk_pool_size,
    omp_atk_fallback,
    omp_atk_fb_data,
    omp_atk_pinned,
    omp_atk_partition
} omp_alloctrait_key_t;
typedef struct {
    omp_alloctrait_key_t key;
    __UINTPTR_TYPE__ value;
} omp_alloctrait_t;
omp_allocator_handle_t omp_init_allocator(
    omp_memspace_handle_t, int, const omp_alloctrait_t[]);
void omp_destroy_allocator(omp_allocator_handle_t);
void *omp_alloc(__SIZE_TYPE__, omp_allocator_handle_t);
void omp_free(void *, omp_allocator_handle_t);
void *omp_target_alloc(__SIZE_TYPE__, int);
void omp_target_free(void *, int);
int omp_target_is_present(const void *, int);
int omp_target_memcpy(
    void *, const void *, __SIZE_TYPE__, __SIZE_TYPE__, __SIZE_TYPE__, int, int);
int omp_target_associate_ptr(const void *, const void *, __SIZE_TYPE__, __SIZE_TYPE__, int);
int omp_target_disassociate_ptr(const void *, int);
double omp_get_wtick(void);
double omp_get_wtime(void);
#endif

// A CUDA runtime of two GPUs whose kernels do nothing: memory is memory of the host, and what is launched is forgotten.
//
// PyTorch's CUDA library loads it in place of libcudart, libcublas, libcudnn and the like (LD_PRELOAD), so that all code
// that runs on the host before a kernel runs as on a machine with GPUs: checks of devices, dtypes and shapes, refusals,
// memory, streams, captures. benchmarks/cuda_library.py builds it, behind the headers of these libraries and together
// with an empty definition of each function that PyTorch calls and this file does not have (benchmarks/cuda_stubs.py).

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>

namespace {

constexpr int kGpus = 2;
constexpr size_t kMemory = size_t{1} << 34;  // of each GPU; pages are taken when they are written
constexpr size_t kFilled = size_t{1} << 20;  // of what is allocated
constexpr size_t kAligned = 512;             // as cudaMalloc aligns

std::mutex mutex;
char* memory[kGpus];
size_t taken[kGpus];
std::map<char*, size_t> allocated, pinned;
thread_local int current = 0;
thread_local cudaError_t last = cudaSuccess;

struct Capture {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
};
std::map<cudaStream_t, Capture> captures;
unsigned long long next_id = 1;
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

cudaError_t fail(cudaError_t error) {
  last = error;
  return error;
}

// Something to point at: handles, descriptors, plans.
template <typename T = void*>
T new_handle() {
  return reinterpret_cast<T>(calloc(1, 65536));
}

// Fails what a capture in another mode than relaxed forbids, and ends that capture.
cudaError_t refuse_in_captures() {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  bool is_refused = false;
  for (auto& [stream, capture] : captures) {
    if (capture.status != cudaStreamCaptureStatusNone && capture.mode != cudaStreamCaptureModeRelaxed) {
      capture.status = cudaStreamCaptureStatusInvalidated;
      is_refused = true;
    }
  }
  return is_refused ? fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

void reserve() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (auto& each : memory)
      each = static_cast<char*>(
          mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  });
}

long nothing() { return 0; }

}  // namespace

extern "C" {

// Devices

cudaError_t cudaGetDeviceCount(int* count) { return *count = kGpus, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = current, cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kGpus) return fail(cudaErrorInvalidDevice);
  return current = device, cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 1, cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return refuse_in_captures(); }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return snprintf(text, size, "0000:%02X:00.0", device + 1), cudaSuccess;
}

// The figures of an A100.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* told, int device) {
  memset(told, 0, sizeof *told);
  if (device >= kGpus) return fail(cudaErrorInvalidDevice);
  strcpy(told->name, "NVIDIA A100-SXM4-80GB");
  told->major = 8;
  told->totalGlobalMem = kMemory;
  told->multiProcessorCount = 108;
  told->warpSize = 32;
  told->maxThreadsPerBlock = told->maxThreadsDim[0] = told->maxThreadsDim[1] = 1024;
  told->maxThreadsDim[2] = 64;
  told->maxGridSize[0] = told->memPitch = 2147483647;
  told->maxGridSize[1] = told->maxGridSize[2] = 65535;
  told->maxThreadsPerMultiProcessor = 2048;
  told->maxBlocksPerMultiProcessor = 32;
  told->regsPerBlock = told->regsPerMultiprocessor = told->totalConstMem = 65536;
  told->sharedMemPerBlock = 49152;
  told->sharedMemPerBlockOptin = 166912;
  told->sharedMemPerMultiprocessor = 167936;
  told->l2CacheSize = 41943040;
  told->memoryBusWidth = 5120;
  told->textureAlignment = 512;
  told->texturePitchAlignment = 32;
  told->canMapHostMemory = told->concurrentKernels = told->unifiedAddressing = told->cooperativeLaunch = 1;
  told->uuid.bytes[0] = static_cast<char>(device + 1);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp told;
  cudaGetDeviceProperties(&told, device);
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: return *value = told.major, cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: return *value = told.minor, cudaSuccess;
    case cudaDevAttrMultiProcessorCount: return *value = told.multiProcessorCount, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock: return *value = told.sharedMemPerBlock, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return *value = told.sharedMemPerBlockOptin, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return *value = told.sharedMemPerMultiprocessor, cudaSuccess;
    case cudaDevAttrMaxThreadsPerBlock: return *value = told.maxThreadsPerBlock, cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return *value = told.maxThreadsPerMultiProcessor, cudaSuccess;
    case cudaDevAttrMaxGridDimX: return *value = told.maxGridSize[0], cudaSuccess;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return *value = told.maxGridSize[1], cudaSuccess;
    case cudaDevAttrWarpSize: return *value = told.warpSize, cudaSuccess;
    default: return *value = 1, cudaSuccess;
  }
}

// Memory

cudaError_t cudaMalloc(void** pointer, size_t size) {
  if (cudaError_t error = refuse_in_captures()) return error;
  reserve();
  std::lock_guard<std::mutex> guard(mutex);
  size = (size + kAligned - 1) / kAligned * kAligned;
  if (taken[current] + size > kMemory) return fail(cudaErrorMemoryAllocation);
  char* start = memory[current] + taken[current];
  // What nobody computes has this in each byte: who asks twice, with 0 and 1, learns which answers hang on values.
  if (const char* byte = getenv("DEVFIX_CUDA_BYTE"); byte && atoi(byte))
    memset(start, atoi(byte), size < kFilled ? size : kFilled);
  taken[current] += size;
  allocated[start] = size;
  return *pointer = start, cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  std::lock_guard<std::mutex> guard(mutex);
  auto found = allocated.find(static_cast<char*>(pointer));
  if (found == allocated.end()) return cudaSuccess;
  madvise(pointer, found->second & ~size_t{4095}, MADV_DONTNEED);
  allocated.erase(found);
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t) { return cudaMalloc(pointer, size); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned) {
  *pointer = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  memset(*pointer, 0, size);
  std::lock_guard<std::mutex> guard(mutex);
  pinned[static_cast<char*>(*pointer)] = size;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
  std::lock_guard<std::mutex> guard(mutex);
  pinned.erase(static_cast<char*>(pointer));
  free(pointer);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned) {
  std::lock_guard<std::mutex> guard(mutex);
  pinned[static_cast<char*>(pointer)] = size;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  std::lock_guard<std::mutex> guard(mutex);
  pinned.erase(static_cast<char*>(pointer));
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* told, const void* pointer) {
  reserve();
  memset(told, 0, sizeof *told);
  told->type = cudaMemoryTypeUnregistered;
  char* place = static_cast<char*>(const_cast<void*>(pointer));
  for (int device = 0; device < kGpus; device++) {
    if (place >= memory[device] && place < memory[device] + kMemory) {
      told->type = cudaMemoryTypeDevice;
      told->device = device;
      told->devicePointer = place;
      return cudaSuccess;
    }
  }
  std::lock_guard<std::mutex> guard(mutex);
  auto above = pinned.upper_bound(place);
  if (above != pinned.begin() && place < std::prev(above)->first + std::prev(above)->second) {
    told->type = cudaMemoryTypeHost;
    told->hostPointer = told->devicePointer = place;
  }
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  return *total = kMemory, *available = kMemory - taken[current], cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind) {
  if (cudaError_t error = refuse_in_captures()) return error;
  return memcpy(to, from, size), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t) {
  return memcpy(to, from, size), cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t size, cudaStream_t) {
  return memcpy(to, from, size), cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t) {
  for (size_t row = 0; row < height; row++)
    memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* pointer, int value, size_t size) { return memset(pointer, value, size), cudaSuccess; }
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t size, cudaStream_t) {
  return memset(pointer, value, size), cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  return *pool = new_handle<cudaMemPool_t>(), cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  return *static_cast<unsigned long long*>(value) = 0, cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void*) { return cudaMalloc(pointer, 65536); }
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* shared, void* pointer) {
  return memcpy(shared, &pointer, sizeof pointer), cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t shared, unsigned) {
  return memcpy(pointer, &shared, sizeof *pointer), cudaSuccess;
}

// Streams, events and graphs

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return *stream = new_handle<cudaStream_t>(), cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) { return *priority = 0, cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return refuse_in_captures(); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return refuse_in_captures(); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void* given, unsigned) {
  return call(stream, cudaSuccess, given), cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t call, void* given) { return call(given), cudaSuccess; }

// The first int of an event says whether it was recorded.
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new_handle<cudaEvent_t>(), cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return *reinterpret_cast<int*>(event) = 1, cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t) { return refuse_in_captures(); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return refuse_in_captures(); }
cudaError_t cudaEventElapsedTime(float* elapsed, cudaEvent_t from, cudaEvent_t to) {
  *elapsed = 0;
  bool are_recorded = *reinterpret_cast<int*>(from) && *reinterpret_cast<int*>(to);
  return are_recorded ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* shared, cudaEvent_t) {
  return memset(shared, 0, sizeof *shared), cudaSuccess;
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t) { return cudaEventCreate(event); }

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (!stream) return fail(cudaErrorStreamCaptureUnsupported);
  if (captures[stream].status != cudaStreamCaptureStatusNone) return fail(cudaErrorIllegalState);
  captures[stream] = {cudaStreamCaptureStatusActive, next_id++, mode};
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  cudaStreamCaptureStatus status = captures[stream].status;
  captures[stream].status = cudaStreamCaptureStatusNone;
  *graph = nullptr;
  if (status == cudaStreamCaptureStatusNone) return fail(cudaErrorIllegalState);
  if (status == cudaStreamCaptureStatusInvalidated) return fail(cudaErrorStreamCaptureInvalidated);
  return *graph = new_handle<cudaGraph_t>(), cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = captures.count(stream) ? captures[stream].status : cudaStreamCaptureStatusNone;
  for (auto& [other, capture] : captures) {  // the legacy stream would wait for what is captured
    bool is_waited_for = capture.status == cudaStreamCaptureStatusActive;
    if (!stream && is_waited_for && capture.mode != cudaStreamCaptureModeRelaxed)
      return fail(cudaErrorStreamCaptureImplicit);
  }
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes,
#if CUDART_VERSION >= 13000
                                     const cudaGraphEdgeData** edges,
#endif
                                     size_t* count) {
  Capture capture = captures.count(stream) ? captures[stream] : Capture();
  *status = capture.status;
  if (id) *id = capture.id;
  if (graph) *graph = nullptr;
  if (nodes) *nodes = nullptr;
#if CUDART_VERSION >= 13000
  if (edges) *edges = nullptr;
#endif
  if (count) *count = 0;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return std::swap(thread_mode, *mode), cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t, unsigned long long) {
  return *made = new_handle<cudaGraphExec_t>(), cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t* count) { return *count = 1, cudaSuccess; }

// Kernels

cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* told, const void*) {
  memset(told, 0, sizeof *told);
  told->maxThreadsPerBlock = 1024;
  told->numRegs = 32;
  told->binaryVersion = told->ptxVersion = 80;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  return *blocks = 2, cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, size_t, unsigned) {
  return *blocks = 2, cudaSuccess;
}
void** __cudaRegisterFatBinary(void*) { return new_handle<void**>(); }
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void*) { return 0; }
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { return cudaSuccess; }
cudaError_t __cudaGetKernel(void** kernel, const void* function) {
  return *kernel = const_cast<void*>(function), cudaSuccess;
}

// Errors

cudaError_t cudaGetLastError() {
  cudaError_t error = last;
  return last = cudaSuccess, error;
}
cudaError_t cudaPeekAtLastError() { return last; }
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorIllegalState: return "the operation cannot be performed in the present state";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureImplicit:
      return "operation would make the legacy stream depend on a capturing blocking stream";
    default: return "unknown error";
  }
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case cudaErrorIllegalState: return "cudaErrorIllegalState";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureImplicit: return "cudaErrorStreamCaptureImplicit";
    default: return "cudaErrorUnknown";
  }
}

// The driver

CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* is_active) {
  return *flags = 0, *is_active = 1, CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) { return *context = new_handle<CUcontext>(), CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int index) { return *device = index, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) { return *value = 0, CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule* module, const void*) { return *module = new_handle<CUmodule>(), CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  return *function = new_handle<CUfunction>(), CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, size_t) {
  return *blocks = 2, CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "unknown error", CUDA_SUCCESS; }
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute, CUdeviceptr) {
  return *static_cast<int*>(value) = 0, CUDA_SUCCESS;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const std::map<std::string, void*> known{
      {"cuDevicePrimaryCtxGetState", reinterpret_cast<void*>(cuDevicePrimaryCtxGetState)},
      {"cuCtxGetCurrent", reinterpret_cast<void*>(cuCtxGetCurrent)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(cuDeviceGetAttribute)},
  };
  auto found = known.find(name);
  *function = found == known.end() ? reinterpret_cast<void*>(nothing) : found->second;
  if (result) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

// The libraries

size_t cublasLtGetVersion() { return 130100; }
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return *version = 130100, CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t found[],
                                              int* count) {
  memset(found, 0, sizeof *found);
  return *count = 1, CUBLAS_STATUS_SUCCESS;
}
size_t cudnnGetVersion() { return 92000; }
size_t cudnnGetCudartVersion() { return 13000; }
cudnnStatus_t cudnnGetProperty(libraryPropertyType kind, int* value) {
  return *value = kind == MAJOR_VERSION ? 9 : kind == MINOR_VERSION ? 20 : 0, CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const, cudnnBackendAttributeName_t,
                                       cudnnBackendAttributeType_t type, int64_t asked, int64_t* count, void* values) {
  if (count) *count = 1;
  if (values && asked > 0 && type == CUDNN_TYPE_INT64) *static_cast<int64_t*>(values) = 0;
  return CUDNN_STATUS_SUCCESS;
}
long cufftCreate(int* plan) { return *plan = 1, 0; }
long cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, int, long long*, long long, long long,
                         int, long long, size_t* workspace, int) {
  return *workspace = 0, 0;
}

}  // extern "C"
